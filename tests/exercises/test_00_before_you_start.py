"""What is done to the figure of exercise 00, and what torch computes must come out."""

import torch
from figure_case import TO_LESSON, Case


def less_mean(dim: int | None, square: bool = False) -> dict[str, torch.Tensor]:
    """The rows of exercise 00 less a mean as broadcasting lays it over them."""
    x = torch.tensor([[1.0, 2.0, 6.0], [0.0, 4.0, 8.0], [3.0, 3.0, 0.0]])[: 3 if square else 2]
    return {"result": x - (x.mean() if dim is None else x.mean(dim=dim))}


def less_own_mean() -> dict[str, torch.Tensor]:
    """All three rows, each less its own mean."""
    x = torch.tensor([[1.0, 2.0, 6.0], [0.0, 4.0, 8.0], [3.0, 3.0, 0.0]])
    centred = x - x.mean(dim=1, keepdim=True)
    return {"result": centred}


CASES = [
    Case("as it opens", [], lambda: less_mean(1, square=True), r"of row 1\. Orange: not the mean of its own row"),
    Case(
        "means of columns",
        [TO_LESSON, ("choose", "Mean", "dim=0")],
        lambda: less_mean(0),
        "not the mean of its own row",
    ),
    Case(
        "all entries",
        [TO_LESSON, ("choose", "Mean", "all entries")],
        lambda: less_mean(None),
        "not the mean of its own",
    ),
    Case("each row its own", [("choose", "Mean", "dim=1, keepdim")], less_own_mean, "Each row loses its own mean"),
    Case("one copy of three", [("move", "Copies laid over x", 1)], says="1 of 3 copies are laid"),
    Case("a cell", [("pick", "result", 1, 2)], says="The 8 in row 1 loses 2.00, the mean of row 2"),
    Case("an error", [TO_LESSON, ("choose", "Mean", "dim=1")], says="An error"),
    Case("as it opens: no error for a square", [], lambda: less_mean(1, square=True), "torch does not warn"),
]
