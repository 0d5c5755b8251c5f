"""repeat_kv leaves the copies in a dimension of their own: heads and copies become one dimension."""


def repeat_kv(x: torch.Tensor, repeats: int) -> torch.Tensor:
    return x[:, :, None].expand(-1, -1, repeats, -1, -1)  # (B, G, repeats, T, h)
