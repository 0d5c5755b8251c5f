"""softmax_stable takes −inf for 0 where it looks for the maximum: rows that are far below 0 then end in 0 / 0. Take the maximum of the scores as they are."""


def softmax_stable(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    finite = torch.where(torch.isinf(x), torch.zeros_like(x), x)
    exponentials = torch.exp(x - finite.amax(dim=dim, keepdim=True))
    return exponentials / exponentials.sum(dim=dim, keepdim=True)
