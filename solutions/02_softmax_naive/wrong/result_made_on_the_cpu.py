"""softmax_stable fills a new tensor without a device: make it on the device of x."""


def softmax_stable(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    largest = torch.zeros(x.amax(dim=dim, keepdim=True).shape, dtype=x.dtype)
    largest = largest + x.amax(dim=dim, keepdim=True)
    exponentials = torch.exp(x - largest)
    return exponentials / exponentials.sum(dim=dim, keepdim=True)
