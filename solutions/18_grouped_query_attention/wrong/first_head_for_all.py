"""repeat_kv copies head 0 alone: each of the G heads is copied."""


def repeat_kv(x: torch.Tensor, repeats: int) -> torch.Tensor:
    return x[:, :1].expand(-1, x.shape[1] * repeats, -1, -1)  # (B, G * repeats, T, h)
