"""The picture: the attention weights of two heads, read out of the fused layer, which never shows them.

Each token holds its own one-hot vector besides the sentence's three numbers, the values are these vectors, and out_proj
changes nothing: the output of a head is then its weights. The parameters come in through load_unfused, since the order
of rows in qkv is the learner's own.
"""

import torch

from grader.authors import Drawing, expect_shape, manual_seed
from grader.sentence import inputs

TOKENS, HEADS = 6, 2
SIZE = HEADS * TOKENS  # of all heads: six numbers each


def query_and_key():
    """Weights of a query and a key layer whose heads look sharply: (12, 3) each."""
    manual_seed(123)
    return torch.randn(SIZE, 3), torch.randn(SIZE, 3)


def expected(documented):
    queries, keys = ((inputs() @ W.T).unflatten(-1, (HEADS, -1)).transpose(0, 1) for W in query_and_key())
    future = torch.ones(TOKENS, TOKENS, dtype=torch.bool).triu(1)
    return torch.softmax((queries @ keys.mT).masked_fill(future, -torch.inf) / TOKENS**0.5, dim=-1)


def ask(learner):
    W_query, W_key = (torch.nn.functional.pad(matrix, (0, TOKENS)) for matrix in query_and_key())
    state = {"W_query.weight": W_query, "W_key.weight": W_key, "out_proj.weight": torch.eye(SIZE)}
    state["W_value.weight"] = torch.nn.functional.pad(torch.eye(TOKENS).repeat(HEADS, 1), (3, 0))
    state["out_proj.bias"] = torch.zeros(SIZE)
    layer = learner.FusedMultiHeadAttention(3 + TOKENS, SIZE, TOKENS, 0.0, HEADS)
    layer.load_unfused(state)
    output = layer(torch.cat([inputs(), torch.eye(TOKENS)], dim=-1)[None])
    expect_shape(output, (1, TOKENS, SIZE))
    return output.reshape(TOKENS, HEADS, TOKENS).transpose(0, 1)


PICTURES = [
    Drawing(
        "Two heads inside the fused function",
        expected,
        ask,
        note="Read out of your layer: its values were made one-hot, so that its output is the weights.",
    ),
]
