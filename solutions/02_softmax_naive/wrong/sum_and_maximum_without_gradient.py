"""softmax_stable detaches the sum of the exponentials: the maximum alone may be detached, the sum has its part of the gradient."""


def softmax_stable(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    largest = x.amax(dim=dim, keepdim=True).detach()  # the shape of x, but 1 along dim
    exponentials = torch.exp(x - largest)  # every exponent is 0 or below
    return exponentials / exponentials.sum(dim=dim, keepdim=True).detach()
