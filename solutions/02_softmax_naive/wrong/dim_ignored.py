"""softmax_stable always works along the last dim: use the argument dim."""


def softmax_stable(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    exponentials = torch.exp(x - x.amax(dim=-1, keepdim=True))
    return exponentials / exponentials.sum(dim=-1, keepdim=True)
