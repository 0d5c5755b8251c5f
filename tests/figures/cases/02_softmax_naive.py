"""What is done to the figure of exercise 02, and what torch computes must come out."""

import torch
from figure_case import Case

from grader.sentence import JOURNEY, inputs


def softmax_of(change: dict[int, float], temperature: float = 1.0) -> dict[str, torch.Tensor]:
    """What both kinds of softmax give for the scores of "journey" with some changed."""
    scores = inputs() @ inputs()[JOURNEY]
    for index, value in change.items():
        scores[index] = value
    scores = scores / temperature
    return {"softmax_naive": scores.exp() / scores.exp().sum(), "softmax_stable": torch.softmax(scores, 0)}


CASES = [
    Case("a thousand", [("press", "Push “journey” to 1,000")], lambda: softmax_of({1: 1000.0}), "nan once"),
    Case("a temperature", [("move", "Temperature", 0.5)], lambda: softmax_of({}, 0.5), "Both give the same"),
    Case("a negative score", [("move", "step", -3.0)], lambda: softmax_of({5: -3.0}), "0.2817"),
    Case("cold", [("move", "Temperature", 0.01)], lambda: softmax_of({}, 0.01), "nan 4 times"),
]
