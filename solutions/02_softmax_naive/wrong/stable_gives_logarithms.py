"""softmax_stable gives the logarithm of the weights: leave the exponentials as they are."""


def softmax_stable(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    largest = x.amax(dim=dim, keepdim=True)  # the shape of x, but 1 along dim
    exponentials = torch.exp(x - largest)  # every exponent is 0 or below
    return x - largest - exponentials.sum(dim=dim, keepdim=True).log()
