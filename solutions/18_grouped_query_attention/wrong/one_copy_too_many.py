"""repeat_kv gives one copy too many of each head: the head itself is one of the copies."""


def repeat_kv(x: torch.Tensor, repeats: int) -> torch.Tensor:
    return x.repeat_interleave(repeats + 1, dim=1)  # (B, G * repeats, T, h)
