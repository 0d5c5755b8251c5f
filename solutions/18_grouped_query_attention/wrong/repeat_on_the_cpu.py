"""repeat_kv writes its copies into a tensor on the CPU: make new tensors on the device of x."""


def repeat_kv(x: torch.Tensor, repeats: int) -> torch.Tensor:
    copies = torch.zeros(x.shape[0], x.shape[1] * repeats, *x.shape[2:], dtype=x.dtype)
    for copy in range(repeats):
        copies[:, copy::repeats] = x
    return copies  # (B, G * repeats, T, h)
