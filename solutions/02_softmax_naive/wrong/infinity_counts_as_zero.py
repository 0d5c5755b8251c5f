"""softmax_stable takes −inf for a score of 0: −inf means no weight at all."""


def softmax_stable(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    x = torch.where(torch.isinf(x), torch.zeros_like(x), x)
    exponentials = torch.exp(x - x.amax(dim=dim, keepdim=True))
    return exponentials / exponentials.sum(dim=dim, keepdim=True)
