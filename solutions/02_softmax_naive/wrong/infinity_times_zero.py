"""softmax_stable multiplies −inf by a mask of zeros: −inf · 0 is NaN."""


def softmax_stable(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    finite = torch.isfinite(x).to(x.dtype)
    largest = x.amax(dim=dim, keepdim=True)
    exponentials = torch.exp((x - largest) * finite) * finite
    return exponentials / exponentials.sum(dim=dim, keepdim=True)
