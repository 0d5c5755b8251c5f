"""Every number of a head has a frequency of its own: the two numbers of a pair must turn by one angle."""


def rope_angles(head_dim: int, context_length: int, base: float = 10_000.0) -> tuple[torch.Tensor, torch.Tensor]:
    exponents = torch.arange(head_dim) / head_dim  # (h,)
    frequencies = 1.0 / base**exponents  # (h / 2,)
    positions = torch.arange(context_length)  # (T,)
    angles = positions[:, None] * frequencies  # (T, h / 2)
    return torch.cos(angles), torch.sin(angles)  # (T, h), (T, h)
