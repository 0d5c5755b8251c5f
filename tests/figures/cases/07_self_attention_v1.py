"""What is done to the figure of exercise 07, and what torch computes must come out."""

from figure_case import Case
from figure_truths import made_of

CASES = [
    Case("a weight", [("pick", "weights", 1, 4)], made_of("parameter", 123), r"0\.5577 / √2.*= 0\.0906"),
    Case("a score", [("pick", "scores", 1, 1)], made_of("parameter", 123), r"0\.4306 · 0\.4433 .*= 1\.8524"),
    Case(
        "by the keyboard",
        [("pick", "queries", 0, 0), ("key", "ArrowDown"), ("key", "ArrowRight")],
        made_of("parameter", 123),
        r"^queries\[1, 1\].*= 1\.4551",
    ),
    Case("an input", [("pick", "inputs", 0, 2)], says="0.8900 is given"),
]
