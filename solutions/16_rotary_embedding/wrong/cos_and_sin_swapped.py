"""rope_angles gives the sine first: cos comes first, then sin."""


def rope_angles(head_dim: int, context_length: int, base: float = 10_000.0) -> tuple[torch.Tensor, torch.Tensor]:
    exponents = torch.arange(0, head_dim, 2) / head_dim  # (h / 2,)
    frequencies = 1.0 / base**exponents  # (h / 2,)
    positions = torch.arange(context_length)  # (T,)
    angles = positions[:, None] * frequencies  # (T, h / 2)
    angles = torch.cat([angles, angles], dim=-1)  # (T, h)
    return torch.sin(angles), torch.cos(angles)  # (T, h), (T, h)
