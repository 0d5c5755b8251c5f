"""What is done to the figure of exercise 00, and what torch computes must come out."""

import torch
from figure_case import TO_LESSON, Case


def less_mean(dim: int | None, rows: int = 2, keepdim: bool = False) -> dict[str, torch.Tensor]:
    """The rows of exercise 00 less a mean as broadcasting lays it over them."""
    x = torch.tensor([[1.0, 2.0, 6.0], [0.0, 4.0, 8.0], [3.0, 3.0, 0.0]])[:rows]
    return {"result": x - x.mean(dim=dim, keepdim=keepdim)}


CASES = [
    Case([], lambda: less_mean(1, rows=3), "Orange: not the mean of its own.*torch does not warn"),
    Case([TO_LESSON, {"Mean": "dim=0"}], lambda: less_mean(0), "not the mean of its own"),
    Case([TO_LESSON, {"Mean": "all entries"}], lambda: less_mean(None), "not the mean of its"),
    Case([{"Mean": "dim=1, keepdim"}], lambda: less_mean(1, rows=3, keepdim=True), "Each row loses its own mean"),
    Case([{"Copies laid over x": 1}], says="1 of 3 copies are laid"),
    Case([("pick", "result", 1, 2)], says="The 8 in row 1 loses 2, the mean of row 2"),
    Case([TO_LESSON, {"Mean": "dim=1"}], says="An error"),
]
