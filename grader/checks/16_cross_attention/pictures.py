"""The picture: the weights inside the class. It returns context vectors alone, so the values are made one-hot.

Each token of the second sequence gets eight more numbers, a 1 at its own place; W_value reads these and nothing else.
W_query and W_key are the document's and do not look at them.
"""

import torch

from grader.authors import Drawing, manual_seed

WORDS = ("Life", "is", "short", "eat", "dessert", "first")
OTHERS = tuple(f"other {number}" for number in range(8))
TOKEN_IDS = (0, 4, 5, 2, 1, 3)


def setup():
    """x_1 (6, 3), x_2 (8, 3), W_query and W_key (3, 2), as the document draws them."""
    manual_seed(123)
    x_1 = torch.nn.Embedding(50_000, 3)(torch.tensor(TOKEN_IDS)).detach()
    manual_seed(123)
    W_query, W_key, _ = torch.rand(3, 2), torch.rand(3, 2), torch.rand(3, 4)
    return x_1, torch.rand(8, 3), W_query, W_key


def expected(documented):
    x_1, x_2, W_query, W_key = setup()
    return torch.softmax((x_1 @ W_query) @ (x_2 @ W_key).T / 2**0.5, dim=-1)


def ask(learner):
    x_1, x_2, W_query, W_key = setup()
    more = len(OTHERS)
    state = {name: torch.cat([W, torch.zeros(more, 2)]) for name, W in (("W_query", W_query), ("W_key", W_key))}
    state["W_value"] = torch.cat([torch.zeros(3, more), torch.eye(more)])
    layer = learner.CrossAttention(3 + more, 2, more, state=state)
    x_1 = torch.cat([x_1, torch.zeros(len(x_1), more)], dim=-1)
    return layer(x_1, torch.cat([x_2, torch.eye(more)], dim=-1))


PICTURES = [
    Drawing(
        "Weights inside CrossAttention, seed 123",
        expected,
        ask,
        WORDS,
        OTHERS,
        "Rows: the tokens that ask. Columns: the eight tokens of the other sequence. Each row sums to 1.",
    )
]
