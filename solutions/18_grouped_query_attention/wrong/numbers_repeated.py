"""repeat_kv repeats the numbers of a head instead of the heads: look at the dimension."""


def repeat_kv(x: torch.Tensor, repeats: int) -> torch.Tensor:
    return x.repeat_interleave(repeats, dim=-1)  # (B, G, T, h * repeats)
