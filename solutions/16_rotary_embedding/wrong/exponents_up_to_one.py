"""The exponents run from 0 to 1, both ends included, as some tables of sines do: the last exponent here is (h − 2) / h."""


def rope_angles(head_dim: int, context_length: int, base: float = 10_000.0) -> tuple[torch.Tensor, torch.Tensor]:
    exponents = torch.linspace(0, 1, head_dim // 2)  # (h / 2,)
    frequencies = 1.0 / base**exponents  # (h / 2,)
    positions = torch.arange(context_length)  # (T,)
    angles = positions[:, None] * frequencies  # (T, h / 2)
    angles = torch.cat([angles, angles], dim=-1)  # (T, h)
    return torch.cos(angles), torch.sin(angles)  # (T, h), (T, h)
