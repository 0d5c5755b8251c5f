"""What is done to the figure of exercise 21, and what torch computes must come out."""

import torch
from figure_case import Case
from torch.nn import functional as F

from grader.sentence import inputs


def attended(causal: bool) -> dict[str, torch.Tensor]:
    """Exercise 21's output, from torch's own attention."""
    x = inputs()[None]
    return {"output": F.scaled_dot_product_attention(x, x, x, is_causal=causal)[0]}


CASES = [
    Case("all keys", [("toggle", "Causal")], lambda: attended(False), "4 of 4 tiles"),
    Case("small blocks", [("move", "Block size", 2)], lambda: attended(True), "6 of 6 tiles"),
    Case("uneven blocks", [("toggle", "Causal"), ("move", "Block size", 5)], lambda: attended(False), "4 of 4"),
    Case("none yet", [("press", "Next tile")], lambda: {"output": torch.zeros(6, 3)}, "0 of 3 tiles"),
]
