"""What is done to the figure of exercise 06, and what torch computes must come out."""

import torch
from figure_case import Case
from torch import nn

from grader.judge.randomness import manual_seed


def normal_scores(d_k: int, query: int = 0) -> dict[str, torch.Tensor]:
    """Exercise 06's queries and keys cut to d_k: spreads, weights and gradients, raw and scaled."""
    manual_seed(1337)
    torch.randn(4, 8, 2), torch.randint(0, 10, (3, 2)), torch.randn(1, 8, 32)
    for _ in range(3):
        nn.Linear(32, 16)
    nn.Linear(16, 32)
    keys, queries = torch.randn(1, 8, 16)[0], torch.randn(1, 8, 16)[0]
    keys, queries = (torch.cat([one, torch.randn(8, 496)], 1)[:, :d_k] for one in (keys, queries))
    raw = queries @ keys.T
    both = (raw, raw / d_k**0.5)

    def gradient(scores):
        with torch.enable_grad():
            one = [torch.autograd.functional.jacobian(lambda s: torch.softmax(s, 0), row).norm() for row in scores]
        return torch.stack(one).mean()

    return {
        "variance of the scores": torch.stack([one.var() for one in both]),
        "largest weight, mean": torch.stack([one.softmax(-1).amax(-1).mean() for one in both]),
        "size of the gradient, mean": torch.stack([gradient(one) for one in both]),
        "weights, raw scores": both[0].softmax(-1)[query],
        "weights, scores / √d_k": both[1].softmax(-1)[query],
    }


CASES = [
    Case("one", [("move", "d_k", 1)], lambda: normal_scores(1)),
    Case("many", [("move", "d_k", 512)], lambda: normal_scores(512), "d_k = 512", 1e-4),
    Case("another query", [("move", "d_k", 64), ("move", "query", 5)], lambda: normal_scores(64, 5), "d_k = 64", 1e-4),
]
