"""softmax_stable subtracts what max(dim) gives, a pair of values and indices: take its values, or use amax."""


def softmax_stable(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    largest = x.max(dim=dim, keepdim=True)  # the shape of x, but 1 along dim
    exponentials = torch.exp(x - largest)  # every exponent is 0 or below
    return exponentials / exponentials.sum(dim=dim, keepdim=True)
