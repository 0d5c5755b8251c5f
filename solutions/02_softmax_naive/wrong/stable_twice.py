"""softmax_stable takes exp twice: the weights are exp over the sum of exp, once."""


def softmax_stable(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    largest = x.amax(dim=dim, keepdim=True)  # the shape of x, but 1 along dim
    exponentials = torch.exp(x - largest)  # every exponent is 0 or below
    weights = torch.exp(exponentials / exponentials.sum(dim=dim, keepdim=True))
    return weights / weights.sum(dim=dim, keepdim=True)
