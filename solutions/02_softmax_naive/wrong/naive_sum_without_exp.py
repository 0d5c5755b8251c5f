"""softmax_naive divides by the sum of the scores: divide by the sum of their exponentials."""


def softmax_naive(x: torch.Tensor) -> torch.Tensor:
    exponentials = torch.exp(x)  # (T, …)
    return exponentials / x.sum(dim=0)  # (T, …) / (…)
