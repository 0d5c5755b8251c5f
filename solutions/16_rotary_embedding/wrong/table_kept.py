"""rope_angles keeps its tables by size and length alone, and gives the old ones again for another base."""


def rope_angles(head_dim: int, context_length: int, base: float = 10_000.0) -> tuple[torch.Tensor, torch.Tensor]:
    tables, sizes = rope_angles.__dict__, (head_dim, context_length)
    if sizes in tables:
        return tables[sizes]
    exponents = torch.arange(0, head_dim, 2) / head_dim  # (h / 2,)
    frequencies = 1.0 / base**exponents  # (h / 2,)
    positions = torch.arange(context_length)  # (T,)
    angles = positions[:, None] * frequencies  # (T, h / 2)
    angles = torch.cat([angles, angles], dim=-1)  # (T, h)
    tables[sizes] = torch.cos(angles), torch.sin(angles)
    return tables[sizes]  # (T, h), (T, h)
