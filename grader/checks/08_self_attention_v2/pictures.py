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
    """The weights of the document's query and key layers, seed 789: (2, 3) each."""
    manual_seed(789)
    return [torch.nn.Linear(3, D_OUT, bias=False).weight.detach() for _ in range(2)]


def expected(documented):
    W_query, W_key = query_and_key()
    x = inputs()
    return torch.softmax((x @ W_query.T) @ (x @ W_key.T).T / D_OUT**0.5, dim=-1)


def ask(learner):
    W_query, W_key = query_and_key()
    state = {f"{name}.weight": torch.zeros(TOKENS, 3 + TOKENS) for name in ("W_query", "W_key", "W_value")}
    state["W_query.weight"][:D_OUT, :3] = W_query * (TOKENS / D_OUT) ** 0.5
    state["W_key.weight"][:D_OUT, :3] = W_key
    state["W_value.weight"][:, 3:] = torch.eye(TOKENS)
    layer = learner.SelfAttention_v2(3 + TOKENS, TOKENS, state=state)
    return layer(torch.cat([inputs(), torch.eye(TOKENS)], dim=-1))


PICTURES = [
    Drawing(
        "Weights inside SelfAttention_v2, seed 789",
        expected,
        ask,
        note="Read out of your layer: its values were made one-hot, so that its context vectors are the weights.",
    )
]
