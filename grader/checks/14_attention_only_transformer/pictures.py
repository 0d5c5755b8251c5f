"""The picture: the attention weights of two layers of two heads, on the tokens of the lesson.

Drawn from the seed the weights are nearly even. So queries and keys are made larger, until the heads look sharply.
"""

import torch

from grader.authors import Drawing, expect_shape, manual_seed

TOKEN_IDS = torch.tensor([[0, 4, 5, 2, 1, 3]])
SIZES = (6, 8, 6, 2, 2)  # vocab_size, d_model, context_length, num_layers, num_heads
TOKENS, SIZE, HEADS = 6, 8, 2
NAMES = ("W_query", "W_key", "W_value", "out_proj")
WORDS = ("Life", "is", "short", "eat", "dessert", "first")


def state():
    """Parameters of the model, by name."""
    manual_seed(123)
    drawn = {"token_embedding.weight": torch.randn(6, SIZE), "position_embedding.weight": torch.randn(TOKENS, SIZE)}
    for layer in range(2):
        for name in NAMES:
            drawn[f"layers.{layer}.{name}.weight"] = torch.randn(SIZE, SIZE) * (0.5 if name in NAMES[:2] else 0.35)
    return drawn | {"unembedding.weight": torch.randn(6, SIZE)}


def heads_of(x, matrix):
    return (x @ matrix.T).unflatten(-1, (HEADS, -1)).transpose(0, 1)  # (H, T, h)


def expected(documented):
    drawn, weights = state(), []
    x = drawn["token_embedding.weight"][TOKEN_IDS[0]] + drawn["position_embedding.weight"]
    future = torch.ones(TOKENS, TOKENS, dtype=torch.bool).triu(1)
    for layer in range(2):
        matrices = [drawn[f"layers.{layer}.{name}.weight"] for name in NAMES]
        queries, keys, values = (heads_of(x, matrix) for matrix in matrices[:3])
        scores = (queries @ keys.mT / (SIZE / HEADS) ** 0.5).masked_fill(future, -torch.inf)
        weights.append(torch.softmax(scores, dim=-1))
        x = x + (weights[-1] @ values).transpose(0, 1).flatten(-2) @ matrices[3].T
    return torch.cat(weights)


def ask(learner):
    model = learner.AttentionOnlyTransformer(*SIZES, state=state())
    weights = learner.all_attention_weights(model, TOKEN_IDS)
    expect_shape(weights, (2, 1, HEADS, TOKENS, TOKENS))
    return weights[:, 0].flatten(0, 1)


PICTURES = [
    Drawing(
        "Two layers of two heads",
        expected,
        ask,
        rows=WORDS,
        columns=WORDS,
        note="Heads 0 and 1 are those of the first layer, heads 2 and 3 those of the second.",
    )
]
