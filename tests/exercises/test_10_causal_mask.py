"""Exercise 10 against plain Python numbers."""

import math

import pytest
import torch
from figure_case import TO_LESSON, Case
from figure_truths import linear
from truths import drawn, softmax, tensor

from grader.sentence import inputs

SHAPES = ((1, 1), (5, 5), (3, 4, 4), (2, 3, 6, 6))


def weights_by_hand(scores: torch.Tensor, d_k: int) -> torch.Tensor:
    """Causal weights, row by row: each row is a softmax over the tokens so far and nothing else."""
    result = []
    for number, row in enumerate(scores.reshape(-1, scores.shape[-1]).tolist()):
        seen = [score / math.sqrt(d_k) for score in row[: number % len(row) + 1]]
        result.append(softmax(seen) + [0.0] * (len(row) - len(seen)))
    return tensor(result).reshape(scores.shape)


@pytest.mark.parametrize("tokens", (1, 2, 7))
def test_the_mask_allows_the_tokens_so_far(solution, tokens):
    assert solution.causal_mask(tokens).tolist() == [[j <= i for j in range(tokens)] for i in range(tokens)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("d_k", (1, 2, 16))
def test_causal_weights_are_those_by_hand(solution, shape, d_k):
    scores = drawn(*shape)
    torch.testing.assert_close(solution.causal_attention_weights(scores, d_k), weights_by_hand(scores, d_k))
    large = scores.sign() * 10_000
    torch.testing.assert_close(solution.causal_attention_weights(large, d_k), weights_by_hand(large, d_k))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_masking_after_the_softmax_gives_the_same(solution, shape):
    scores = drawn(*shape)
    renormalized = solution.mask_then_renormalize(torch.softmax(scores / 2, dim=-1))
    torch.testing.assert_close(renormalized, weights_by_hand(scores, 4))


def filled(fill: float, last: float = 0.0) -> dict[str, torch.Tensor]:
    """Exercise 10 with a fill value, and something added to the scores of the last token."""
    W_query, W_key, _ = linear(789, *[(3, 2)] * 3)
    scores = inputs() @ W_query.T @ W_key @ inputs().T
    scores[:, -1] += last
    masked = scores.masked_fill(torch.ones(6, 6).triu(1).bool(), fill)
    weights = torch.softmax(masked / 2**0.5, -1)
    return {"masked scores": masked, "weights": weights}


LAST_TOKEN = {"Add to each score with “step”": 5}
CASES = [
    Case([], lambda: filled(-2.0), r"^49\.8 % of the weight of “Your” leaks to later tokens"),
    Case([{"Fill": -19.9}], lambda: filled(-19.9), r"^Less than 0\.1 % .* “Your” leaks .*orange"),
    Case([{"Fill": -20}], lambda: filled(-torch.inf), "^No weight falls on a later token"),
    Case([TO_LESSON, LAST_TOKEN], lambda: filled(-torch.inf, 5.0), "move the weights of step"),
]
