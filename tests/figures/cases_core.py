"""What is done to the figures of the core track: three cases or more an exercise."""

import torch
from cases import Case
from truths_core import (
    arrows,
    averaged,
    dropped,
    embedded,
    filled,
    less_mean,
    made_of,
    normal_scores,
    projected,
    query_on,
    softmax_of,
    split,
    two_hands,
)

from grader.sentence import inputs

CASES = {
    "00": [
        Case("means of columns", [("choose", "Mean", "dim=0")], lambda: less_mean(0), "not centred"),
        Case("all entries", [("choose", "Mean", "all entries")], lambda: less_mean(None), "not centred"),
        Case("an error", [("choose", "Mean", "dim=1")], says="An error"),
        Case(
            "no error for a square",
            [("choose", "Mean", "dim=1"), ("choose", "Rows of x", "three")],
            lambda: less_mean(1, square=True),
            "not centred",
        ),
    ],
    "01": [
        Case(
            "a right angle",
            [("move", "a, x", 0.5), ("move", "a, y", 0), ("move", "b, x", 0), ("move", "b, y", 0.8)],
            says=arrows((0.5, 0), (0, 0.8)),
        ),
        Case(
            "the other way",
            [("move", "a, x", 0.5), ("move", "a, y", 0.5), ("move", "b, x", -0.5), ("move", "b, y", -0.25)],
            says=arrows((0.5, 0.5), (-0.5, -0.25)),
        ),
        Case(
            "a cell",
            [("pick", "scores", 4, 2)],
            lambda: {"scores": inputs() @ inputs().T},
            "“one” and “starts” is 0.7154",
        ),
        Case("its neighbour", [("pick", "scores", 4, 2), ("key", "ArrowRight")], says="“one” and “with” is 0.3474"),
    ],
    "02": [
        Case("a thousand", [("press", "Push “journey” to 1,000")], lambda: softmax_of({1: 1000.0}), "nan once"),
        Case("a temperature", [("move", "Temperature", 0.5)], lambda: softmax_of({}, 0.5), "Both give the same"),
        Case("a negative score", [("move", "step", -3.0)], lambda: softmax_of({5: -3.0}), "0.2817"),
        Case("cold", [("move", "Temperature", 0.01)], lambda: softmax_of({}, 0.01), "nan 4 times"),
    ],
    "03": [
        Case("your", [("choose", "Query", "Your")], lambda: query_on(0), "0.2098"),
        Case("one", [("choose", "Query", "one")], lambda: query_on(4), "“one”"),
        Case("step", [("choose", "Query", "step"), ("choose", "Dimensions", "1 and 2")], lambda: query_on(5), "“step”"),
    ],
    "04": [
        Case("fewer words", [("type", "Sentence", "eat dessert first")], lambda: embedded([2, 1, 3]), "id 2"),
        Case(
            "a word twice",
            [("type", "Sentence", "short, short Life")],
            lambda: embedded([5, 5, 0]),
            "each of the 2 times",
        ),
        Case("an unknown word", [("type", "Sentence", "Life is long")], lambda: embedded([0, 4]), "KeyError: “long”"),
        Case("another token", [("pick", "token ids", 0, 4)], says="“dessert” has the id 1"),
    ],
    "05": [
        Case("another token", [("choose", "Token", "one")], lambda: projected(4), "“one”"),
        Case("an entry", [("move", "Chosen entry of W_query", -1)], lambda: projected(1, -1.0), "−1.0000"),
        Case("one map for both", [("toggle", "Use W_query for the keys too")], lambda: projected(1, same=True)),
    ],
    "06": [
        Case("one", [("move", "d_k", 1)], lambda: normal_scores(1)),
        Case("many", [("move", "d_k", 512)], lambda: normal_scores(512), "d_k = 512", 1e-4),
        Case(
            "another query", [("move", "d_k", 64), ("move", "query", 5)], lambda: normal_scores(64, 5), "d_k = 64", 1e-4
        ),
    ],
    "07": [
        Case("a weight", [("pick", "weights", 1, 4)], made_of("parameter", 123), r"0\.5577 / √2.*= 0\.0906"),
        Case("a score", [("pick", "scores", 1, 1)], made_of("parameter", 123), r"0\.4306 · 0\.4433 .*= 1\.8524"),
        Case(
            "by the keyboard",
            [("pick", "queries", 0, 0), ("key", "ArrowDown"), ("key", "ArrowRight")],
            made_of("parameter", 123),
            r"^queries\[1, 1\].*= 1\.4551",
        ),
        Case("an input", [("pick", "inputs", 0, 2)], says="0.8900 is given"),
    ],
    "08": [
        Case("a weight", [("pick", "weights", 0, 0)], made_of("layer", 789), r"0\.2899 / √2.*= 0\.1921"),
        Case("a score", [("pick", "scores", 1, 0)], made_of("layer", 789), r"= 0\.4656"),
        Case("a parameter", [("pick", "W_query", 0, 1)], made_of("layer", 789), r"W_query\[0, 1\]"),
    ],
    "09": [
        Case("by a loop", [("choose", "By", "a loop"), ("move", "Token", 4)], averaged, "Average 4.*/ 5 = 0.3525"),
        Case("by a softmax", [("choose", "By", "a softmax")], averaged, "Average 2"),
        Case("another last token", [("move", "Add to the last token", 4)], lambda: averaged(4.0), "no other row"),
    ],
    "10": [
        Case("zero leaks", [("move", "Fill", 0)], lambda: filled(0.0), "leaks to later tokens"),
        Case("less leaks", [("move", "Fill", -5)], lambda: filled(-5.0), "dashed"),
        Case(
            "another last token",
            [("move", "Score of “step”", 5)],
            lambda: filled(-torch.inf, 5.0),
            "move the weights of step",
        ),
        Case(
            "and it leaks",
            [("move", "Fill", 0), ("move", "Score of “step”", 5)],
            lambda: filled(0.0, 5.0),
            "move the weights of step",
        ),
    ],
    "11": [
        Case("one draw", [("move", "p", 0.5)], lambda: dropped(0.5, 1), "After 1 draw "),
        Case("ten draws", [("move", "p", 0.5), ("move", "Draws", 10)], lambda: dropped(0.5, 10), "2.00 times"),
        Case("all draws", [("move", "p", 0.2), ("move", "Draws", 200)], lambda: dropped(0.2, 200), "After 200 draws"),
        Case("once more", [("move", "p", 0.5), ("press", "Draw once more")], lambda: dropped(0.5, 2), "After 2 draws"),
    ],
    "12": [
        Case(
            "queries as rows",
            [("choose", "Scores", "queries @ keysᵀ")],
            lambda: two_hands(True, False, True),
            "query i",
        ),
        Case("scaled", [("toggle", "Divide by √head_size")], lambda: two_hands(False, True, True)),
        Case(
            "no mask", [("toggle", "Mask"), ("toggle", "Divide by √head_size")], lambda: two_hands(False, True, False)
        ),
    ],
    "13": [
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
    ],
}
