"""What is done to the figure of exercise 17, and what torch computes must come out."""

import torch
from figure_case import TO_LESSON, Case
from figure_truths import multi_head


def cut(order: str) -> dict[str, torch.Tensor]:
    """The output with its projections taken in an order, and the right one."""
    return {"output": multi_head(order)["output"], "should be": multi_head()["output"]}


CASES = [
    Case([], lambda: cut("vkq"), "v and q are cut"),
    Case([{"Stacked as": "v k q", "Cut as": "v k q"}], lambda: cut("qkv"), "One product"),
    Case([TO_LESSON, {"Cut as": "k q v"}], lambda: cut("kqv"), "k and q are cut.*no error"),
]
