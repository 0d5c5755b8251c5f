"""softmax_stable loses a dim in the maximum and in the sum: both need keepdim to stand beside their rows."""


def softmax_stable(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    largest = x.amax(dim=dim)  # the shape of x, but 1 along dim
    exponentials = torch.exp(x - largest)  # every exponent is 0 or below
    return exponentials / exponentials.sum(dim=dim)
