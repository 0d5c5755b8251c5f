"""softmax_stable takes powers of 2: softmax takes powers of e."""


def softmax_stable(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    shifted = x - x.amax(dim=dim, keepdim=True)
    exponentials = torch.exp2(shifted)
    return exponentials / exponentials.sum(dim=dim, keepdim=True)
