"""softmax_naive calls a ready-made softmax: write exp over the sum of exp yourself."""


def softmax_naive(x: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x, dim=0)
