"""softmax_stable divides the scores by the maximum: subtract it, which leaves the weights as they are."""


def softmax_stable(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    largest = x.amax(dim=dim, keepdim=True)  # the shape of x, but 1 along dim
    exponentials = torch.exp(x / largest)  # every exponent is 0 or below
    return exponentials / exponentials.sum(dim=dim, keepdim=True)
