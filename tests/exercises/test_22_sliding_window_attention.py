"""What is done to the figure of exercise 22, and what torch computes must come out."""

import torch
from figure_case import TO_LESSON, Case


def window(tokens: int, width: int, layers: int = 1) -> dict[str, torch.Tensor]:
    """Exercise 22's mask, and what is seen through some layers: the mask's powers."""
    mask = torch.ones(tokens, tokens).tril() - torch.ones(tokens, tokens).tril(-width)
    seen = torch.linalg.matrix_power(mask, layers) > 0
    return {"mask": mask, **({f"seen through {layers} layers": seen.float()} if layers > 1 else {})}


MASKS = ("toggle", "Masks")
CASES = [
    Case("as it opens", [MASKS], lambda: window(12, 3, 3), r"Through 3 layers that is 3.·.2.=.6\."),
    Case("wider", [TO_LESSON, ("move", "Tokens", 9), ("move", "Window", 4)], lambda: window(9, 4), r"1.·.3.=.3\."),
    Case(
        "to the first token",
        [MASKS, ("move", "Layers", 6)],
        lambda: window(12, 3, 6),
        "6.·.2.=.12, more than the 11 that there are",
    ),
]
