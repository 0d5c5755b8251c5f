"""softmax_stable turns the scores into float32 and leaves them so: give their own dtype back."""


def softmax_stable(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    x = x.float()
    exponentials = torch.exp(x - x.amax(dim=dim, keepdim=True))
    return exponentials / exponentials.sum(dim=dim, keepdim=True)
