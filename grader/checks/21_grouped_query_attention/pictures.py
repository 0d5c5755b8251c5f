"""The picture: which head of keys and values each head of queries uses, and the weights of four heads in two groups.

The layer returns only its output. To show the weights, each token holds its own one-hot vector besides the sentence's
three numbers, the values are these vectors, and out_proj changes nothing: the output of a head is then its weights.
"""

import torch

from grader.authors import Drawing, expect_shape, manual_seed
from grader.sentence import inputs

TOKENS, HEADS, GROUPS = 6, 4, 2
SIZE = HEADS * TOKENS  # of all heads: six numbers each


def query_and_key():
    """Weights of a query and a key layer whose heads look sharply: (24, 3) and (12, 3)."""
    manual_seed(123)
    return 1.5 * torch.randn(SIZE, 3), 1.5 * torch.randn(GROUPS * TOKENS, 3)


def expected(documented):
    queries, keys = ((inputs() @ W.T).unflatten(-1, (-1, TOKENS)).transpose(0, 1) for W in query_and_key())
    keys = keys[[head // (HEADS // GROUPS) for head in range(HEADS)]]
    future = torch.ones(TOKENS, TOKENS, dtype=torch.bool).triu(1)
    return torch.softmax((queries @ keys.mT / TOKENS**0.5).masked_fill(future, -torch.inf), dim=-1)


def ask(learner):
    W_query, W_key = (torch.nn.functional.pad(matrix, (0, TOKENS)) for matrix in query_and_key())
    state = {"W_query.weight": W_query, "W_key.weight": W_key, "out_proj.weight": torch.eye(SIZE)}
    state["W_value.weight"] = torch.nn.functional.pad(torch.eye(TOKENS).repeat(GROUPS, 1), (3, 0))
    state["out_proj.bias"] = torch.zeros(SIZE)
    layer = learner.GroupedQueryAttention(3 + TOKENS, SIZE, HEADS, GROUPS, state=state)
    output = layer(torch.cat([inputs(), torch.eye(TOKENS)], dim=-1)[None])
    expect_shape(output, (1, TOKENS, SIZE))
    return output.reshape(TOKENS, HEADS, TOKENS).transpose(0, 1)


def ask_copies(learner):
    copies = learner.repeat_kv(torch.eye(GROUPS)[None, :, None], HEADS // GROUPS)
    expect_shape(copies, (1, HEADS, 1, GROUPS))
    return copies[0, :, 0]


PICTURES = [
    Drawing(
        "repeat_kv: which of two heads each of the four copies is",
        expected=lambda documented: torch.eye(GROUPS).repeat_interleave(HEADS // GROUPS, dim=0),
        ask=ask_copies,
        rows=tuple(f"copy {i}" for i in range(HEADS)),
        columns=tuple(f"head {i}" for i in range(GROUPS)),
    ),
    Drawing(
        "Four heads of queries, two heads of keys",
        expected,
        ask,
        note="Read out of your layer: its values were made one-hot, so that its output is the weights.",
    ),
]
