"""The picture: the weights inside the class. It returns context vectors alone, so the values are made one-hot.

Each token gets six more numbers, a 1 at its own place. W_value reads these and nothing else: the value of token j is
the j-th one-hot vector, and the context vectors are the weights. W_query and W_key do not look at them. With six
numbers in a key the layer divides by √6, where the document's divides by √2: the queries make up for it.
"""

import torch

from grader.authors import Drawing, manual_seed
from grader.sentence import inputs

TOKENS, D_OUT = 6, 2


def query_and_key():
    """W_query and W_key of the document, seed 123: (3, 2) each."""
    manual_seed(123)
    return torch.rand(3, D_OUT), torch.rand(3, D_OUT)


def expected(documented):
    W_query, W_key = query_and_key()
    x = inputs()
    return torch.softmax((x @ W_query) @ (x @ W_key).T / D_OUT**0.5, dim=-1)


def ask(learner):
    W_query, W_key = query_and_key()
    state = {name: torch.zeros(3 + TOKENS, TOKENS) for name in ("W_query", "W_key", "W_value")}
    state["W_query"][:3, :D_OUT] = W_query * (TOKENS / D_OUT) ** 0.5
    state["W_key"][:3, :D_OUT] = W_key
    state["W_value"][3:] = torch.eye(TOKENS)
    layer = learner.SelfAttention_v1(3 + TOKENS, TOKENS, state=state)
    return layer(torch.cat([inputs(), torch.eye(TOKENS)], dim=-1))


PICTURES = [
    Drawing(
        "Weights inside SelfAttention_v1, seed 123",
        expected,
        ask,
        note="Read out of your layer: its values were made one-hot, so that its context vectors are the weights.",
    )
]
