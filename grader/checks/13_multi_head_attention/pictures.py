"""The pictures: the weights of each head, in the document's layer and in one with larger heads.

The layer returns context vectors alone. The document's heads have one number each. So the sentence goes in six times,
with one more number a token: in copy j it is 1 for token j. W_value reads this number and nothing else, and out_proj
changes nothing, so that copy j of the output shows column j of each head's weights. W_query and W_key are the
document's and do not look at it.

A head of one number is scaled by √1. Heads of six numbers show the scale, and hold a one-hot value for each token.
"""

import torch

from grader.authors import Drawing, expect_shape, manual_seed
from grader.sentence import inputs

TOKENS, D_OUT, HEADS = 6, 2, 2  # one number for each head
LARGE = HEADS * TOKENS  # six for each


def query_and_key():
    """The weights of the document's query and key layers, seed 123: (2, 3) each."""
    manual_seed(123)
    return [torch.nn.Linear(3, D_OUT, bias=False).weight.detach() for _ in range(2)]


def expected(documented):
    W_query, W_key = query_and_key()
    queries, keys = (inputs() @ W_query.T).T, (inputs() @ W_key.T).T  # (2, 6): a head's number of each token
    scores = queries[:, :, None] * keys[:, None, :]  # (2, 6, 6)
    future = torch.ones(TOKENS, TOKENS, dtype=torch.bool).triu(1)
    return torch.softmax(scores.masked_fill(future, -torch.inf), dim=-1)


def ask(learner):
    W_query, W_key = (torch.nn.functional.pad(matrix, (0, 1)) for matrix in query_and_key())  # (2, 4)
    state = {"W_query.weight": W_query, "W_key.weight": W_key, "W_value.weight": torch.eye(4)[3].repeat(D_OUT, 1)}
    state |= {"out_proj.weight": torch.eye(D_OUT), "out_proj.bias": torch.zeros(D_OUT)}
    layer = learner.MultiHeadAttention(4, D_OUT, TOKENS, 0.0, HEADS, state=state)
    output = layer(torch.cat([inputs().expand(TOKENS, TOKENS, 3), torch.eye(TOKENS)[..., None]], dim=-1))
    expect_shape(output, (TOKENS, TOKENS, D_OUT))
    return output.permute(2, 1, 0)


def large_query_and_key():
    """Weights of a query and a key layer whose heads look sharply: (12, 3) each."""
    manual_seed(123)
    return torch.randn(LARGE, 3), torch.randn(LARGE, 3)


def expected_large(documented):
    queries, keys = ((inputs() @ W.T).reshape(TOKENS, HEADS, TOKENS).transpose(0, 1) for W in large_query_and_key())
    future = torch.ones(TOKENS, TOKENS, dtype=torch.bool).triu(1)
    return torch.softmax((queries @ keys.mT).masked_fill(future, -torch.inf) / TOKENS**0.5, dim=-1)


def ask_large(learner):
    W_query, W_key = (torch.nn.functional.pad(matrix, (0, TOKENS)) for matrix in large_query_and_key())  # (12, 9)
    W_value = torch.nn.functional.pad(torch.eye(TOKENS).repeat(HEADS, 1), (3, 0))  # (12, 9)
    state = {"W_query.weight": W_query, "W_key.weight": W_key, "W_value.weight": W_value}
    state |= {"out_proj.weight": torch.eye(LARGE), "out_proj.bias": torch.zeros(LARGE)}
    layer = learner.MultiHeadAttention(3 + TOKENS, LARGE, TOKENS, 0.0, HEADS, state=state)
    output = layer(torch.cat([inputs(), torch.eye(TOKENS)], dim=-1)[None])
    expect_shape(output, (1, TOKENS, LARGE))
    return output.reshape(TOKENS, HEADS, TOKENS).transpose(0, 1)


NOTE = "Read out of your layer: its values were made one-hot, so that its output is the weights."

PICTURES = [
    Drawing("MultiHeadAttention, seed 123", expected, ask, note=NOTE),
    Drawing("Heads of six numbers, scaled by √6", expected_large, ask_large, note=NOTE),
]
