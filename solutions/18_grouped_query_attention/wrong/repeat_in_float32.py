"""repeat_kv gives its copies in float32, whatever the dtype of x is."""


def repeat_kv(x: torch.Tensor, repeats: int) -> torch.Tensor:
    return x.float().repeat_interleave(repeats, dim=1)  # (B, G * repeats, T, h)
