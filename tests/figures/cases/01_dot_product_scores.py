"""What is done to the figure of exercise 01, and what torch computes must come out."""

import re

import torch
from figure_case import Case
from torch.nn import functional as F

from grader.sentence import inputs


def arrows(a: tuple[float, float], b: tuple[float, float]) -> str:
    """What exercise 01 says of two arrows."""
    a, b = torch.tensor(a, dtype=torch.float64), torch.tensor(b, dtype=torch.float64)
    product = float(a @ b)
    angle = float(torch.acos(F.cosine_similarity(a, b, 0)).rad2deg())
    return re.escape(f"{product:.4f}".replace("-", "−")) + f".*{angle:.0f}°"


CASES = [
    Case(
        "a right angle",
        [("move", "a, x", 0.5), ("move", "a, y", 0), ("move", "b, x", 0), ("move", "b, y", 0.8)],
        says=arrows((0.5, 0), (0, 0.8)),
    ),
    Case(
        "the other way",
        [("move", "a, x", 0.5), ("move", "a, y", 0.5), ("move", "b, x", -0.5), ("move", "b, y", -0.25)],
        says=arrows((0.5, 0.5), (-0.5, -0.25)),
    ),
    Case(
        "a cell",
        [("pick", "scores", 4, 2)],
        lambda: {"scores": inputs() @ inputs().T},
        "“one” and “starts” is 0.7154",
    ),
    Case("its neighbour", [("pick", "scores", 4, 2), ("key", "ArrowRight")], says="“one” and “with” is 0.3474"),
]
