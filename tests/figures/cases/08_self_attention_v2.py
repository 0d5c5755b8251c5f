"""What is done to the figure of exercise 08, and what torch computes must come out."""

from figure_case import Case
from figure_truths import made_of

CASES = [
    Case("a weight", [("pick", "weights", 0, 0)], made_of("layer", 789), r"0\.2899 / √2.*= 0\.1921"),
    Case("a score", [("pick", "scores", 1, 0)], made_of("layer", 789), r"= 0\.4656"),
    Case("a parameter", [("pick", "W_query", 0, 1)], made_of("layer", 789), r"W_query\[0, 1\]"),
]
