"""The pictures: the weights of a sentence with d_k = 24, and how they sharpen without the scale."""

import torch

from grader.authors import Drawing, manual_seed

WORDS = ("Life", "is", "short", "eat", "dessert", "first")
TOKEN_IDS = (0, 4, 5, 2, 1, 3)
D_K = 24


def queries_and_keys():
    """(6, 24) each, drawn as the document draws them."""
    manual_seed(123)
    x = torch.nn.Embedding(6, 16)(torch.tensor(TOKEN_IDS)).detach()  # (6, 16)
    manual_seed(123)
    W_Q, W_K = torch.rand(D_K, 16), torch.rand(D_K, 16)
    return x @ W_Q.T, x @ W_K.T


def weights(scale):
    """The weights of scores times `scale`: (6, 6)."""
    queries, keys = queries_and_keys()
    return torch.softmax(queries @ keys.T * scale, dim=-1)


def ask_unscaled(learner):
    """The learner's weights for queries √d_k times as large: that takes the scale away."""
    queries, keys = queries_and_keys()
    return learner.scaled_attention_weights(queries * D_K**0.5, keys)


PICTURES = [
    Drawing(
        "Weights: scaled_attention_weights(queries, keys)",
        expected=lambda documented: weights(D_K**-0.5),
        ask=lambda learner: learner.scaled_attention_weights(*queries_and_keys()),
        rows=WORDS,
        columns=WORDS,
        note="d_k = 24. Each row sums to 1.",
    ),
    Drawing(
        "The same without 1/√d_k (queries made √d_k times as large)",
        expected=lambda documented: weights(1),
        ask=ask_unscaled,
        rows=WORDS,
        columns=WORDS,
        note="So sharp does the softmax get without the scale: one key takes nearly all.",
    ),
]
