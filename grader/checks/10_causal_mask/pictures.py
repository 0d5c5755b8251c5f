"""The pictures: the triangle, as a mask and as the weights of the sentence by both roads."""

import torch

from grader.authors import Drawing, manual_seed
from grader.sentence import inputs

TOKENS, D_K = 6, 2


def scores():
    """The document's scores of the six tokens (6, 6), seed 789."""
    manual_seed(789)
    query, key = (torch.nn.Linear(3, D_K, bias=False) for _ in range(2))
    return (query(inputs()) @ key(inputs()).T).detach()


def printed(documented, name):
    """The triangle whose rows are printed up to the diagonal."""
    rows = torch.zeros(TOKENS, TOKENS, dtype=torch.float64)
    for i in range(TOKENS):
        rows[i, : i + 1] = documented[f"{name}_row_{i + 1}"]
    return rows


PICTURES = [
    Drawing(
        "The mask: causal_mask(6)",
        expected=lambda documented: torch.ones(TOKENS, TOKENS).tril(),
        ask=lambda learner: learner.causal_mask(TOKENS),
        note="1 is True: the row's token may attend to the column's.",
    ),
    Drawing(
        "Weights: mask_then_renormalize(weights)",
        expected=lambda documented: printed(documented, "renormalized"),
        ask=lambda learner: learner.mask_then_renormalize(torch.softmax(scores() / D_K**0.5, dim=-1)),
        note="Masked after the softmax. No token looks ahead; each row sums to 1.",
    ),
    Drawing(
        "Weights: causal_attention_weights(scores, 2)",
        expected=lambda documented: printed(documented, "masked_weights"),
        ask=lambda learner: learner.causal_attention_weights(scores(), D_K),
        note="Masked before the softmax: the same triangle.",
    ),
]
