"""repeat_kv gives all heads and then all heads again, as x.repeat does: the copies of one head stand side by side."""


def repeat_kv(x: torch.Tensor, repeats: int) -> torch.Tensor:
    return x.repeat(1, repeats, 1, 1)  # (B, G * repeats, T, h)
