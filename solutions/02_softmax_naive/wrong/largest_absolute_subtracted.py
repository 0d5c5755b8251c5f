"""softmax_stable subtracts the largest absolute score: very negative rows vanish in 0 / 0."""


def softmax_stable(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    finite = torch.where(torch.isfinite(x), x, torch.zeros_like(x))
    exponentials = torch.exp(x - finite.abs().amax(dim=dim, keepdim=True))
    return exponentials / exponentials.sum(dim=dim, keepdim=True)
