"""What is done to the figure of exercise 13, and what torch computes must come out."""

import torch
from figure_case import Case

from grader import catalog
from grader.catalog import documented


def example_heads() -> torch.Tensor:
    """Exercise 13's x (3, 8), from the printed heads."""
    known = {number.id: number.data.value for number in documented.numbers(catalog.find("13").folder)}
    return torch.cat([known["example_head_1"], known["example_head_2"]], 1)


def split(wrong: bool, heads: int, numbered: bool = False) -> dict[str, torch.Tensor]:
    """Exercise 13's heads, split in the right way or the wrong one."""
    x = torch.arange(24.0).reshape(3, 8) if numbered else example_heads()
    cut = (lambda one: one.reshape(heads, 3, -1)) if wrong else (lambda one: one.reshape(3, heads, -1).transpose(0, 1))
    scores = cut(example_heads()) @ cut(example_heads()).mT
    return {f"head {n}": one for n, one in enumerate(cut(x))} | {
        f"scores of head {n}": one for n, one in enumerate(scores)
    }


CASES = [
    Case("the wrong way", [("choose", "Split by", "view(H, T, h)")], lambda: split(True, 2), "of 24 cells"),
    Case("four heads", [("choose", "Heads", "4")], lambda: split(False, 4), "2 numbers of its own token"),
    Case(
        "places",
        [
            ("choose", "Cells show", "their place in memory"),
            ("choose", "Split by", "view(H, T, h)"),
            ("choose", "Heads", "4"),
        ],
        lambda: split(True, 4, True),
        "dashed",
    ),
]
