"""repeat_kv detaches keys and values: the gradients of their weights are lost."""


def repeat_kv(x: torch.Tensor, repeats: int) -> torch.Tensor:
    return x.detach().repeat_interleave(repeats, dim=1)  # (B, G * repeats, T, h)
