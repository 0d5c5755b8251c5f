"""repeat_kv repeats the tokens instead of the heads: look at the dimension."""


def repeat_kv(x: torch.Tensor, repeats: int) -> torch.Tensor:
    return x.repeat_interleave(repeats, dim=2)  # (B, G, T * repeats, h)
