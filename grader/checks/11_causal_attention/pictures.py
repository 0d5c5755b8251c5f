"""The pictures: the triangle inside the layer, and in each head of the wrapper.

The layers return context vectors alone. So the sentence goes in three times, with two more numbers a token: in copy
b they are 1 for the tokens 2b and 2b + 1, each at its own place. W_value reads these and nothing else, so that copy b
of the context vectors shows two columns of the weights. W_query and W_key are the document's and do not look at them.
"""

import torch

from grader.authors import Drawing, expect_shape, manual_seed
from grader.sentence import inputs

TOKENS, D_OUT = 6, 2
COPIES = TOKENS // D_OUT
LAYERS = ("W_query", "W_key", "W_value")


def drawn(heads):
    """The weights of seed 123 for each head's three layers, (2, 3) each."""
    manual_seed(123)
    return [[torch.nn.Linear(3, D_OUT, bias=False).weight.detach() for _ in LAYERS] for _ in range(heads)]


def weights(heads):
    """The causal weights of each head: (heads, 6, 6)."""
    x = inputs()
    scores = torch.stack([(x @ W_query.T) @ (x @ W_key.T).T for W_query, W_key, _ in drawn(heads)])
    future = torch.ones(TOKENS, TOKENS, dtype=torch.bool).triu(1)
    return torch.softmax(scores.masked_fill(future, -torch.inf) / D_OUT**0.5, dim=-1)


def parameters(matrices, head=""):
    """The parameters of one head that sees the two more numbers."""
    W_query, W_key, _ = (torch.nn.functional.pad(matrix, (0, D_OUT)) for matrix in matrices)  # (2, 5)
    W_value = torch.cat([torch.zeros(D_OUT, 3), torch.eye(D_OUT)], dim=-1)  # (2, 5)
    return {f"{head}{name}.weight": value for name, value in zip(LAYERS, (W_query, W_key, W_value))}


def ask(layer, heads):
    """The weights (heads, 6, 6) of a layer with these parameters."""
    marks = torch.eye(TOKENS).reshape(TOKENS, COPIES, D_OUT).transpose(0, 1)  # (3, 6, 2)
    context = layer(torch.cat([inputs().expand(COPIES, TOKENS, 3), marks], dim=-1))
    expect_shape(context, (COPIES, TOKENS, heads * D_OUT))
    columns = context.reshape(COPIES, TOKENS, heads, D_OUT)
    return columns.permute(2, 1, 0, 3).reshape(heads, TOKENS, TOKENS)


def ask_attention(learner):
    return ask(learner.CausalAttention(3 + D_OUT, D_OUT, TOKENS, 0.0, state=parameters(*drawn(1))), 1)[0]


def ask_wrapper(learner):
    state = {}
    for number, matrices in enumerate(drawn(2)):
        state |= parameters(matrices, f"heads.{number}.")
    return ask(learner.MultiHeadAttentionWrapper(3 + D_OUT, D_OUT, TOKENS, 0.0, 2, state=state), 2)


NOTE = "Read out of your layer: its values were made one-hot, so that its context vectors are the weights."

PICTURES = [
    Drawing("The triangle in CausalAttention, seed 123", lambda documented: weights(1)[0], ask_attention, note=NOTE),
    Drawing("MultiHeadAttentionWrapper, seed 123", lambda documented: weights(2), ask_wrapper, note=NOTE),
]
