"""The figure: the scores of the sentence, whose causal weights are published."""

import torch
from torch import nn

from grader.authors import Figure, Start, manual_seed
from grader.sentence import TOKENS, inputs


def data(documented):
    """The scores of the six tokens (6, 6): three bias-free layers, drawn with seed 789."""
    manual_seed(789)
    W_query, W_key, _ = (nn.Linear(3, 2, bias=False) for _ in range(3))
    scores: torch.Tensor = W_query(inputs()) @ W_key(inputs()).T
    return {"scores": scores, "tokens": TOKENS, "d_k": 2}


ROWS = tuple(f"masked_weights_row_{number}" for number in range(1, 7))
FIGURE = Figure("The causal weights of the sentence.", data, {"weights": Start(ROWS)})
