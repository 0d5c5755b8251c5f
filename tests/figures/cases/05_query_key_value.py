"""What is done to the figure of exercise 05, and what torch computes must come out."""

from figure_case import Case
from figure_truths import projected

CASES = [
    Case("another token", [("choose", "Token", "one")], lambda: projected(4), "“one”"),
    Case("an entry", [("move", "Chosen entry of W_query", -1)], lambda: projected(1, -1.0), "−1.0000"),
    Case("one map for both", [("toggle", "Use W_query for the keys too")], lambda: projected(1, same=True)),
]
