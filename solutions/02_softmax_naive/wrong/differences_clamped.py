"""softmax_stable clamps the differences to the maximum from below: a score far below it then keeps a weight."""


def softmax_stable(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    largest = x.amax(dim=dim, keepdim=True)  # the shape of x, but 1 along dim
    exponentials = torch.exp((x - largest).clamp(min=-10))  # every exponent is 0 or below
    return exponentials / exponentials.sum(dim=dim, keepdim=True)
