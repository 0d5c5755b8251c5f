"""softmax_stable subtracts the largest absolute score: very negative rows, and rows with −inf, vanish in 0 / 0."""


def softmax_stable(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    largest = x.abs().amax(dim=dim, keepdim=True)  # the shape of x, but 1 along dim
    exponentials = torch.exp(x - largest)  # every exponent is 0 or below
    return exponentials / exponentials.sum(dim=dim, keepdim=True)
