"""What is done to the figure of exercise 30, and what torch computes must come out."""

import math

import torch
from figure_case import Case


def back(scores, arriving, diagonal: bool = False) -> dict[str, torch.Tensor]:
    """Weights, Jacobian and gradient of the scores, from torch's autograd."""
    scores, arriving = torch.tensor(scores, dtype=torch.float64), torch.tensor(arriving, dtype=torch.float64)
    weights = torch.softmax(scores, dim=-1)
    jacobian = torch.autograd.functional.jacobian(lambda x: torch.softmax(x, dim=-1), scores)
    jacobian = jacobian.nan_to_num() * (torch.eye(3, dtype=torch.float64) if diagonal else 1)
    average = (weights * arriving).sum()
    return {
        "weights": weights, "average": average, "Jacobian": jacobian, "gradient of the scores": jacobian @ arriving
    }  # fmt: skip


LOG_2 = math.log(2.0)
WHOLE = ("choose", "Jacobian", "whole")
CASES = [
    Case("as it opens", [], says="average is 2.500.* positive only at 2"),
    Case(
        "all alike",
        [WHOLE, ("move", "Gradient 0", 6), ("move", "Gradient 1", 6)],
        lambda: back([LOG_2, 0, 0], [6, 6, 6]),
        "no score gets a gradient",
    ),
    Case(
        "a sure choice, and 2 more everywhere",
        [WHOLE, ("move", "Score 0", 5), ("move", "Add to all", 2)],
        lambda: back([5, 0, 0], [3, 4, 8]),
        "positive only at 1 and 2",
    ),
    Case(
        "hidden",
        [WHOLE, ("toggle", "Hide token 2")],
        lambda: back([LOG_2, 0, -math.inf], [1, 2, 6]),
        "positive only at 1, where more than that arrives at a weight that is not 0",
    ),
    Case(
        "diagonal",
        [("choose", "Jacobian", "only the diagonal")],
        lambda: back([LOG_2, 0, 0], [1, 2, 6], diagonal=True),
        "and not 0",
    ),
]
