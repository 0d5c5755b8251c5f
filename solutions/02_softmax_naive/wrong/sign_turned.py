"""softmax_stable takes exp of the maximum minus x: the largest score gets the least weight, so turn the difference."""


def softmax_stable(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    largest = x.amax(dim=dim, keepdim=True)  # the shape of x, but 1 along dim
    exponentials = torch.exp(largest - x)  # every exponent is 0 or below
    return exponentials / exponentials.sum(dim=dim, keepdim=True)
