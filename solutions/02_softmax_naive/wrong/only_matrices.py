"""softmax_stable handles vectors and matrices alone: scores may have three dims or more."""


def softmax_stable(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    if x.ndim > 1 and dim in (0, -2):
        return softmax_stable(x.mT, -1).mT
    exponentials = torch.exp(x - x.amax(dim=-1, keepdim=True))
    return exponentials / exponentials.sum(dim=-1, keepdim=True)
