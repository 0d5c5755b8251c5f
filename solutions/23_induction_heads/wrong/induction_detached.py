"""The induction score is cut from the graph: gradients must reach the weights."""


def induction_score(weights: torch.Tensor, period: int) -> torch.Tensor:
    stripe = weights.detach().diagonal(
        1 - period, dim1=-2, dim2=-1
    )  # (…, period + 1), rows period - 1 … 2 * period - 1
    return stripe[..., 1:].mean(dim=-1)  # (…)
