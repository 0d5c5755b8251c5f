"""The picture: what a draft gives too little of, for each token before."""

import torch

from grader.authors import Drawing, expect_shape

ROWS = torch.tensor([[4.0, 2.0, 1.0, 1.0], [1.0, 4.0, 2.0, 1.0], [1.0, 1.0, 4.0, 2.0], [2.0, 1.0, 1.0, 4.0]]) / 8
DRAFT = torch.tensor([[1.0, 1.0, 2.0, 4.0], [1.0, 4.0, 2.0, 1.0], [2.0, 2.0, 2.0, 2.0], [5.0, 1.0, 1.0, 1.0]]) / 8


def expected(documented):
    missing = (ROWS - DRAFT).clamp(min=0)
    total = missing.sum(dim=-1, keepdim=True)
    return torch.where(total > 0, missing / total.clamp(min=1e-9), ROWS)


def ask(learner):
    left = learner.residual(ROWS, DRAFT)
    expect_shape(left, (4, 4))
    return left


PICTURES = [
    Drawing(
        "What is drawn from after a rejection",
        expected,
        ask,
        note="One row for each token before. In the second row both models agree, and it is the target's row.",
    )
]
