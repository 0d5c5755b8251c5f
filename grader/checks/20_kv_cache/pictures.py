"""The picture: the weights of two heads when the sentence is fed two tokens at a time, each pair with the cache so far.

The layer returns its output and the cache. Each token holds its own one-hot vector besides three numbers of a sentence,
the values are these vectors, and out_proj changes nothing: the output of a head is then its weights.
"""

import torch

from grader.authors import Drawing, Mismatch, expect_shape, manual_seed
from grader.sentence import inputs

TOKENS, HEADS, CHUNK = 6, 2, 2
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
    layer = learner.CachedAttention(3 + TOKENS, SIZE, HEADS, state=state)
    x, rows, cache = torch.cat([inputs(), torch.eye(TOKENS)], dim=-1)[None], [], None
    for chunk in x.split(CHUNK, dim=1):
        answer = layer(chunk, cache)
        if type(answer) is not tuple or len(answer) != 2:
            raise Mismatch("the result is not a tuple of the output and the cache")
        expect_shape(answer[0], (1, CHUNK, SIZE))
        rows.append(answer[0])
        cache = answer[1]
    return torch.cat(rows, dim=1).reshape(TOKENS, HEADS, TOKENS).transpose(0, 1)


PICTURES = [
    Drawing(
        "Two heads, the sentence fed two tokens at a time",
        expected,
        ask,
        note="Read out of your layer: its values were made one-hot, so that its output is the weights.",
    ),
]
