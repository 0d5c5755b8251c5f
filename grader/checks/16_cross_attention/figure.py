"""The figure: the article's sentence, and the eight random tokens that it looks at."""

import torch

from grader.authors import Figure, Start, manual_seed

WORDS = ("Life", "is", "short", "eat", "dessert", "first")
TOKENS = (0, 4, 5, 2, 1, 3)


def data(documented):
    """x_1 (6, 3), the three weight matrices of seed 123, and x_2 (8, 3), drawn right after them."""
    manual_seed(123)
    x_1 = torch.nn.Embedding(50_000, 3)(torch.tensor(TOKENS))
    manual_seed(123)
    weights = {"W_query": torch.rand(3, 2), "W_key": torch.rand(3, 2), "W_value": torch.rand(3, 4)}
    return {"x_1": x_1, "words": WORDS, **weights, "x_2": torch.rand(8, 3)}


FIGURE = Figure(
    "Lines from each word of one sentence to the words of another, as thick as its weights.",
    data,
    {"context vector of “Life”": Start("context_vectors", take=lambda numbers: numbers[:1])},
)
