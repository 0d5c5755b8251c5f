"""What is done to the figure of exercise 22, and what torch computes must come out."""

import torch
from figure_case import Case
from figure_truths import CAUSAL, Transformer, trained_loss, trained_model, words
from torch.nn import functional as F

from grader.judge.inputs import manual_seed


def small_model(ids: list[int], off: tuple[tuple[int, int], ...] = ()) -> dict[str, torch.Tensor]:
    """Exercise 22's model of seed 123."""
    manual_seed(123)
    logits = Transformer(6, 8, 6, 2, 2)(torch.tensor(ids), off)
    return {"logits": logits, "loss": F.cross_entropy(logits[:-1], torch.tensor(ids[1:]), reduction="none")}


def likeliest(ids: list[int]) -> dict[str, torch.Tensor]:
    """The five largest probabilities of what comes next, and the losses."""
    return {
        "what comes next: the five likeliest": trained_model(ids)[-1].softmax(-1).topk(5).values,
        "loss": trained_loss(ids)["loss"],
    }


CASES = [
    Case("other tokens", [("type", "Tokens", "3 3 1 0 2")], lambda: small_model([3, 3, 1, 0, 2]), "mean loss"),
    Case(
        "a head off",
        [("toggle", "layer 0, head 1")],
        lambda: small_model([0, 4, 5, 2, 1, 3], ((0, 1),)),
        "1 head off",
    ),
    Case(
        "trained",
        [("choose", "Model", "trained on repeated sequences"), ("type", "Tokens", words(CAUSAL))],
        lambda: likeliest(CAUSAL),
        "mean loss",
        1e-4,
    ),
    Case("words", [("type", "Tokens", "first first dessert Life eat")], lambda: small_model([3, 3, 1, 0, 2])),
    Case("a word", [("pick", "point at a word", 0, 3)], says="After “eat” .*; “dessert” follows, .* a loss of 2.9785"),
    Case("no word", [("type", "Tokens", "Life is long")], says="“long” is no token: type Life, dessert"),
    Case("no token", [("type", "Tokens", "1 9")], says="“9” is no token"),
]
