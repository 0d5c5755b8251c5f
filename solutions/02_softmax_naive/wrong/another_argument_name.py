"""softmax_stable calls its argument scores. The lesson calls it x: callers may use the name."""


def softmax_stable(scores: torch.Tensor, dim: int = -1) -> torch.Tensor:
    x = scores
    largest = x.amax(dim=dim, keepdim=True)  # the shape of x, but 1 along dim
    exponentials = torch.exp(x - largest)  # every exponent is 0 or below
    return exponentials / exponentials.sum(dim=dim, keepdim=True)
