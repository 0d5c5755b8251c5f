"""What is done to the figure of exercise 17, and what torch computes must come out."""

import torch
from figure_case import TO_LESSON, Case
from figure_truths import multi_head


def cut(order: str) -> dict[str, torch.Tensor]:
    """The output with its projections taken in an order, the right one, and how far each token is from it."""
    wrong, right = multi_head(order)["output"], multi_head()["output"]
    return {"output": wrong, "should be": right, "how far off each token is": (wrong - right).abs().amax(1)}


CASES = [
    Case("as it opens", [("toggle", "Numbers")], lambda: cut("vkq"), "v and q are cut"),
    Case(
        "stacked otherwise",
        [TO_LESSON, ("choose", "Stacked as", "k q v")],
        lambda: cut("kqv"),
        "no error is raised",
    ),
    Case(
        "and cut so",
        [("toggle", "Numbers"), ("choose", "Stacked as", "v k q"), ("choose", "Cut as", "v k q")],
        lambda: multi_head() | {"how far off each token is": torch.zeros(6)},
        "One product",
    ),
    Case("cut otherwise", [TO_LESSON, ("choose", "Cut as", "k q v")], lambda: cut("kqv"), "k and q are cut"),
]
