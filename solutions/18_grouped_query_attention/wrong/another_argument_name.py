"""repeat_kv calls its argument n_rep. The lesson calls it repeats: callers may use the name."""


def repeat_kv(x: torch.Tensor, n_rep: int) -> torch.Tensor:
    repeats = n_rep
    return x.repeat_interleave(repeats, dim=1)  # (B, G * repeats, T, h)
