"""softmax_stable subtracts one maximum of the whole tensor: rows far below it vanish in 0 / 0."""


def softmax_stable(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    exponentials = torch.exp(x - x.max())
    return exponentials / exponentials.sum(dim=dim, keepdim=True)
