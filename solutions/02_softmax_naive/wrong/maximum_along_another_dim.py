"""softmax_stable takes the maximum along the last dim whatever dim is: take both along dim."""


def softmax_stable(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    exponentials = torch.exp(x - x.amax(dim=-1, keepdim=True))
    return exponentials / exponentials.sum(dim=dim, keepdim=True)
