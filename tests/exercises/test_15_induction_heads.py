"""What is done to the figure of exercise 15, and what torch computes must come out."""

from figure_case import Case
from figure_truths import CAUSAL, REPEATED, trained_loss, words

CASES = [
    Case("fresh", [("type", "Tokens", words(CAUSAL))], lambda: trained_loss(CAUSAL), "second half", 1e-4),
    Case(
        "the induction head off",
        [("type", "Tokens", words(CAUSAL)), ("toggle", "layer 1, head 0")],
        lambda: trained_loss(CAUSAL, ((1, 0),)),
        "1 head off",
        1e-4,
    ),
    Case(
        "two heads off",
        [("type", "Tokens", words(REPEATED)), ("toggle", "layer 0, head 1"), ("toggle", "layer 1, head 3")],
        lambda: trained_loss(REPEATED, ((0, 1), (1, 3))),
        "2 heads off",
        1e-4,
    ),
    Case(
        "no repetition",
        [("type", "Tokens", words(CAUSAL[:7]))],
        lambda: trained_loss(CAUSAL[:7]),
        "The mean loss",
        1e-4,
    ),
]
