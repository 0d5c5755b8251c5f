"""What is done to the figure of exercise 31, and what torch computes must come out."""

import torch
from figure_case import NUMBERS, TO_LESSON, Case
from torch.nn import functional as F


def attended(causal: bool, ready: int = 4) -> dict[str, torch.Tensor]:
    """The output of the lesson's four tokens, from torch's own attention; 0 where it isn't ready, and is left empty."""
    query, keys = torch.ones(1, 4, 1), torch.tensor([2.0, 4.0, 1.0, 8.0]).log().reshape(1, 4, 1)
    output = F.scaled_dot_product_attention(
        query, keys, torch.tensor([6.0, 3.0, 0.0, 9.0]).reshape(1, 4, 1), is_causal=causal
    )
    return {"output / sum": output.flatten() * (torch.arange(4) < ready)}


RISE = "of query {} rises from log 4 to log 8, so its old sum and output are multiplied by 4/8"
CASES = [
    Case("as it opens", [NUMBERS], lambda: attended(False, ready=2), "Tile 2 of 4: the maximum " + RISE.format(1)),
    Case("all keys", [TO_LESSON, ("toggle", "Causal")], lambda: attended(False), "Tile 4 of 4"),
    Case("causal", [TO_LESSON], lambda: attended(True), "Tile 3 of 3: the maximum " + RISE.format(3)),
    Case(
        "no rise",
        [TO_LESSON, ("move", "Block size", 1), ("move", "Tiles done", 6)],
        lambda: attended(True, ready=3),
        "Tile 6 of 10: query 2 keeps its maximum, log 4, and nothing is corrected",
    ),
    Case("none yet", [NUMBERS, ("press", "Reset")], lambda: attended(False, ready=0), "No tile is done yet"),
]
