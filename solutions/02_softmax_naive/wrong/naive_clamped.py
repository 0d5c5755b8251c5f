"""softmax_naive clamps the scores before exp: here it is the bare formula, whose overflow is to be seen."""


def softmax_naive(x: torch.Tensor) -> torch.Tensor:
    exponentials = torch.exp(x.clamp(max=80))  # (T, …)
    return exponentials / exponentials.sum(dim=0)  # (T, …) / (…)
