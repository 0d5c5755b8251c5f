"""softmax_stable loses a dim in the sum: without keepdim the division only fits along dim 0."""


def softmax_stable(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    exponentials = torch.exp(x - x.amax(dim=dim, keepdim=True))
    return exponentials / exponentials.sum(dim=dim)
