"""The published numbers: causal weights of "Your journey starts with one step", and a random sequence."""

import torch
from torch import nn

from grader.authors import expect, expect_shape, manual_seed, task
from grader.sentence import inputs


def scores_of_the_sentence() -> torch.Tensor:
    """Scores of the six tokens (6, 6), d_k = 2: three bias-free layers, drawn with seed 789."""
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        manual_seed(789)
        W_query, W_key, _ = (nn.Linear(3, 2, bias=False) for _ in range(3))
        return W_query(inputs()) @ W_key(inputs()).T


def scores_of_keys() -> torch.Tensor:
    """Scores of a random sequence (1, 8, 8) whose rows belong to its keys, drawn with seed 1337."""
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        manual_seed(1337)
        torch.randn(4, 8, 2), torch.randint(0, 10, (3, 2))  # what the document draws before
        x = torch.randn(1, 8, 32)
        key, query = nn.Linear(32, 16), nn.Linear(32, 16)
        return key(x) @ query(x).transpose(2, 1)


def expect_rows(got, documented, prefix: str, hidden: float) -> None:
    """Each row holds the printed numbers up to the diagonal, and `hidden` after it."""
    expect_shape(got, (6, 6))
    for i, row in enumerate(got):
        expect(row[: i + 1], documented[f"{prefix}_row_{i + 1}"], f"row {i} up to the diagonal")
        expect(row[i + 1 :], torch.full((5 - i,), hidden), f"row {i} after the diagonal")


@task(2)
def test_documented_renormalized_weights(learner, documented):
    """Masked after the softmax: the renormalised weights of all six tokens are the published ones."""
    weights = torch.softmax(scores_of_the_sentence() / 2**0.5, dim=-1)
    expect(weights[0], documented["unmasked_weights_first_row"], "the first row of the input")
    expect(weights[-1], documented["unmasked_weights_last_row"], "the last row of the input")
    expect_rows(learner.mask_then_renormalize(weights), documented, "renormalized", hidden=0.0)


@task(3)
def test_documented_masked_scores(learner, documented):
    """The masked scores of all six tokens are the published ones."""
    expect_rows(learner.mask_scores(scores_of_the_sentence()), documented, "masked_scores", hidden=-torch.inf)


@task(4)
def test_documented_causal_weights(learner, documented):
    """Masked before the softmax: the causal weights of all six tokens are the published ones."""
    weights = learner.causal_attention_weights(scores_of_the_sentence(), 2)
    expect_rows(weights, documented, "masked_weights", hidden=0.0)


@task(4)
def test_documented_unscaled_weights(learner, documented):
    """The causal weights of a batch of one sequence match the printed numbers, with d_k = 1: not scaled."""
    weights = learner.causal_attention_weights(scores_of_keys(), 1)
    expect(weights, documented["weights_of_keys"])
