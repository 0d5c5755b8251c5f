"""What is done to the figure of exercise 19, and what torch computes must come out."""

import torch
from figure_case import Case


def window(tokens: int, width: int, layers: int = 1) -> dict[str, torch.Tensor]:
    """Exercise 19's mask, and what is seen through some layers: the mask's powers."""
    mask = torch.ones(tokens, tokens).tril() - torch.ones(tokens, tokens).tril(-width)
    seen = torch.linalg.matrix_power(mask, layers) > 0
    many = {f"seen through {layers} layers": seen.float()} if layers > 1 else {}
    scores = torch.tensor([mask.sum(), tokens * width, tokens * tokens])
    return {"mask": mask, "scores": scores, "tokens that the last one sees": seen[-1].sum(), **many}


CASES = [
    Case("longer", [("move", "Tokens", 12)], lambda: window(12, 3)),
    Case("wider", [("move", "Tokens", 9), ("move", "Window", 4)], lambda: window(9, 4), "65,536"),
    Case(
        "deeper",
        [("move", "Tokens", 16), ("move", "Window", 4), ("move", "Layers", 3)],
        lambda: window(16, 4, 3),
        "9 before it through 3 layers",
    ),
]
