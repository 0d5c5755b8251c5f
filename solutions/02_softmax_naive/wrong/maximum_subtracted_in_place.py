"""softmax_stable subtracts in place: that changes the scores of whoever called it."""


def softmax_stable(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    with torch.no_grad():
        x -= x.amax(dim=dim, keepdim=True)
    exponentials = torch.exp(x)
    return exponentials / exponentials.sum(dim=dim, keepdim=True)
