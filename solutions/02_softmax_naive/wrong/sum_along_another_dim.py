"""softmax_stable sums along the last dim whatever dim is: take both maximum and sum along dim."""


def softmax_stable(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    largest = x.amax(dim=dim, keepdim=True)  # the shape of x, but 1 along dim
    exponentials = torch.exp(x - largest)  # every exponent is 0 or below
    return exponentials / exponentials.sum(dim=-1, keepdim=True)
