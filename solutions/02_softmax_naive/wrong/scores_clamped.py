"""softmax_stable clamps the scores: differences between large scores are lost."""


def softmax_stable(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    exponentials = torch.exp(x.clamp(-80, 80))
    return exponentials / exponentials.sum(dim=dim, keepdim=True)
