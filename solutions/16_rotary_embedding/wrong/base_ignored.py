"""rope_angles always uses 10,000 and never the argument base."""


def rope_angles(head_dim: int, context_length: int, base: float = 10_000.0) -> tuple[torch.Tensor, torch.Tensor]:
    exponents = torch.arange(0, head_dim, 2) / head_dim  # (h / 2,)
    frequencies = 1.0 / 10_000.0**exponents  # (h / 2,)
    positions = torch.arange(context_length)  # (T,)
    angles = positions[:, None] * frequencies  # (T, h / 2)
    angles = torch.cat([angles, angles], dim=-1)  # (T, h)
    return torch.cos(angles), torch.sin(angles)  # (T, h), (T, h)
