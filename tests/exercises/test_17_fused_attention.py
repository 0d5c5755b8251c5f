"""What is done to the figure of exercise 17, and what torch computes must come out."""

from figure_case import TO_LESSON, Case
from figure_truths import multi_head

CASES = [
    Case("as it opens", [], lambda: multi_head("kqv") | {"should be": multi_head()["output"]}, "k and q are cut"),
    Case(
        "stacked otherwise",
        [TO_LESSON, ("choose", "Stacked as", "k q v")],
        lambda: multi_head("kqv"),
        "no error is raised",
    ),
    Case("and cut so", [("choose", "Stacked as", "v k q"), ("choose", "Cut as", "v k q")], multi_head, "One product"),
    Case("cut otherwise", [TO_LESSON, ("choose", "Cut as", "v k q")], lambda: multi_head("vkq"), "dashed"),
]
