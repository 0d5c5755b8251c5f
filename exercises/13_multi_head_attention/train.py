"""Teaches your layer to write up to eight digits backwards: what `make train EX=13` runs, in a few seconds.

Your class is trained beside a twin with the same numbers and no mask.
"""

import copy

import torch
from torch.nn import functional as F

SIZE, HEADS = 64, 4
STEPS = 100
RUNS, COLUMNS, TASK, PICTURE, WHY = Backwards.WORDS  # of grader/desk/trainee.py, which comes before this file


class WithoutMask(torch.nn.Module):
    """The same numbers as a layer of exercise 13, and every token sees every token."""

    def __init__(self, layer):
        super().__init__()
        self.W_query, self.W_key, self.W_value, self.out_proj = map(
            copy.deepcopy, (layer.W_query, layer.W_key, layer.W_value, layer.out_proj)
        )

    def forward(self, x):
        """Multi-head attention as in the lesson, with your split_heads and merge_heads, and nothing hidden."""
        parts = (split_heads(project(x), HEADS) for project in (self.W_query, self.W_key, self.W_value))
        return self.out_proj(merge_heads(F.scaled_dot_product_attention(*parts)))


class Training(Backwards):
    """Two layers in training: the learner's, and its twin."""

    HEADS = HEADS

    def __init__(self, seed: int = 0):
        torch.manual_seed(seed)
        layer = MultiHeadAttention(SIZE, SIZE, self.PLACES, 0.0, HEADS)  # the one that you wrote
        super().__init__(layer, WithoutMask(layer), SIZE, seed)
