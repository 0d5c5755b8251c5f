"""softmax_stable detaches the sum: the gradient through it is lost, so the rest is wrong."""


def softmax_stable(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    exponentials = torch.exp(x - x.amax(dim=dim, keepdim=True))
    return exponentials / exponentials.sum(dim=dim, keepdim=True).detach()
