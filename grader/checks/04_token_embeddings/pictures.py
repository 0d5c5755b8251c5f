"""The picture: the embedded sentence. There is no attention yet."""

import torch

from grader.authors import Drawing

WORDS = ("Life", "is", "short", "eat", "dessert", "first")
TOKEN_IDS = (0, 4, 5, 2, 1, 3)

PICTURES = [
    Drawing(
        "Vectors: TokenEmbedding(50_000, 3), seed 123",
        expected=lambda documented: documented["x_of_later_edition"],
        ask=lambda learner: learner.TokenEmbedding(50_000, 3, seed=123)(torch.tensor(TOKEN_IDS)),
        rows=WORDS,
        columns=("x1", "x2", "x3"),
        note="One row for each word: its vector.",
    )
]
