"""What is done to the figures of the later exercises: three cases or more an exercise."""

import torch
from cases import Case
from truths_beyond import (
    attended,
    cached,
    crossed,
    fresh_tokens,
    grouped,
    likeliest,
    multi_head,
    online,
    small_model,
    trained_loss,
    turned,
    window,
    words,
)

SCORES = torch.tensor([2.0, 4.0, 1.0, 8.0, 2.0]).log().tolist()
CAUSAL, REPEATED = fresh_tokens(1, 12), fresh_tokens(2, 9)

CASES = {
    "14": [
        Case("fewer keys", [("move", "Tokens of x_2", 3)], lambda: crossed(6, 3), "6 × 3 weights"),
        Case("fewer queries", [("move", "Tokens of x_1", 2)], lambda: crossed(2, 8), "2 × 8 weights"),
        Case(
            "self-attention",
            [("toggle", "Take x_1 for both: self-attention")],
            lambda: crossed(6, 8, True),
            "6 × 6 weights",
        ),
        Case("a row", [("pick", "weights", 5, 0)], says="“first” looks most at token 4"),
    ],
    "15": [
        Case("stacked otherwise", [("choose", "Stacked as", "k q v")], lambda: multi_head("kqv"), "no error tells it"),
        Case(
            "and cut so", [("choose", "Stacked as", "v k q"), ("choose", "Cut as", "v k q")], multi_head, "One product"
        ),
        Case("cut otherwise", [("choose", "Cut as", "v k q")], lambda: multi_head("vkq"), "dashed"),
    ],
    "16": [
        Case(
            "both one on",
            [("press", "Both one on")],
            lambda: turned(3, 1, 100.0),
            "distance is 2, and the score 15.4399",
        ),
        Case("far", [("move", "Query at", 20), ("move", "Key at", 7)], lambda: turned(20, 7, 100.0), "distance is 13"),
        Case(
            "another base",
            [("choose", "Base", "10,000"), ("move", "Key at", 5)],
            lambda: turned(2, 5, 10_000.0),
            "distance is 3",
        ),
    ],
    "17": [
        Case("three tokens", [("move", "Tokens", 3)], lambda: cached(3), "multiply-adds"),
        Case("the first again", [("press", "Next token")], lambda: cached(1)),
        Case(
            "no cache",
            [("toggle", "Keep a cache")],
            lambda: multi_head() | {"bytes kept": torch.tensor(0)},
            "with a cache it would be 216",
        ),
    ],
    "18": [
        Case("a head each", [("choose", "Heads of keys", "8")], lambda: grouped(8), "keys of its own"),
        Case("one for all", [("choose", "Heads of keys", "1")], lambda: grouped(1), "8 heads share.*512 MiB"),
        Case(
            "a long text",
            [("choose", "Heads of keys", "4"), ("move", "Tokens", 17)],
            lambda: grouped(4),
            "131,072 tokens the cache takes 32 GiB; without sharing it takes 64 GiB",
        ),
    ],
    "19": [
        Case("longer", [("move", "Tokens", 12)], lambda: window(12, 3)),
        Case("wider", [("move", "Tokens", 9), ("move", "Window", 4)], lambda: window(9, 4), "65,536"),
        Case(
            "deeper",
            [("move", "Tokens", 16), ("move", "Window", 4), ("move", "Layers", 3)],
            lambda: window(16, 4, 3),
            "9 before it through 3 layers",
        ),
    ],
    "20": [
        Case("one at a time", [("move", "Block size", 1)], lambda: online(SCORES), "the same"),
        Case("half way", [("move", "Blocks read", 2)], lambda: online(SCORES, 4), "4 of 5 scores"),
        Case("a large score", [("move", "Score 0", 1000)], lambda: online([1000.0, *SCORES[1:]])),
        Case(
            "forgotten", [("toggle", "Forget the correction")], lambda: {"sum": torch.tensor(2.875)}, "2.8750 is wrong"
        ),
    ],
    "21": [
        Case("all keys", [("toggle", "Causal")], lambda: attended(False), "4 of 4 tiles"),
        Case("small blocks", [("move", "Block size", 2)], lambda: attended(True), "6 of 6 tiles"),
        Case("uneven blocks", [("toggle", "Causal"), ("move", "Block size", 5)], lambda: attended(False), "4 of 4"),
        Case("none yet", [("press", "Next tile")], lambda: {"output": torch.zeros(6, 3)}, "0 of 3 tiles"),
    ],
    "22": [
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
        Case("no token", [("type", "Tokens", "1 9")], says="“9” is no token"),
    ],
    "23": [
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
    ],
}
