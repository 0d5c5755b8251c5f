"""The exponents begin at 1/h instead of 0: the first pair should turn by one whole radian for each position."""


def rope_angles(head_dim: int, context_length: int, base: float = 10_000.0) -> tuple[torch.Tensor, torch.Tensor]:
    exponents = torch.arange(1, head_dim + 1, 2) / head_dim  # (h / 2,): 0, 2/h, 4/h, …
    frequencies = 1.0 / base**exponents  # (h / 2,)
    positions = torch.arange(context_length)  # (T,)
    angles = positions[:, None] * frequencies  # (T, 1) * (h / 2,) -> (T, h / 2)
    angles = torch.cat([angles, angles], dim=-1)  # (T, h)
    return torch.cos(angles), torch.sin(angles)  # (T, h), (T, h)
