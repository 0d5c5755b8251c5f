"""Exercise 06's solution against torch's own attention, plain Python sums and what the paper says of variances."""

import math
import statistics

import pytest
import torch
from figure_case import Case
from torch import nn
from torch.nn import functional
from truths import attention, dot, drawn, tensor

from grader.judge.inputs import manual_seed

SHAPES = [((), 1, 1, 1, 1), ((), 3, 5, 4, 7), ((3,), 3, 3, 3, 5), ((2,), 1, 6, 5, 1), ((2, 3), 4, 5, 7, 2)]


def inputs_of(lead, T_q, T_k, d_k, d_v):
    """Queries, keys and values in float64."""
    sizes = ((*lead, T_q, d_k), (*lead, T_k, d_k), (*lead, T_k, d_v))
    return [drawn(*size, seed=number) for number, size in enumerate(sizes)]


@pytest.mark.parametrize("shape", SHAPES)
def test_attention_is_torchs_own(solution, shape):
    inputs = inputs_of(*shape)
    expected = functional.scaled_dot_product_attention(*inputs)
    torch.testing.assert_close(solution.scaled_dot_product_attention(*inputs), expected)


@pytest.mark.parametrize("shape", SHAPES)
def test_weights_are_the_plain_sums(solution, shape):
    query, keys, _ = (x.flatten(0, -3) if x.dim() > 2 else x[None] for x in inputs_of(*shape))
    for queries, rows in zip(query, keys, strict=True):
        weights, _ = attention(queries.tolist(), rows.tolist(), rows.tolist())
        torch.testing.assert_close(solution.scaled_attention_weights(queries, rows), tensor(weights))
        score = solution.attention_score(queries[0], rows[0]).item()
        assert score == pytest.approx(dot(queries[0].tolist(), rows[0].tolist()))


@pytest.mark.parametrize("shape", SHAPES[1:])
def test_variances_are_those_of_the_standard_library(solution, shape):
    query, keys, _ = inputs_of(*shape)
    raw, scaled = solution.score_variances(query, keys)
    lead, d_k = math.prod(shape[0]), shape[3]
    pairs = zip(query.reshape(lead, *query.shape[-2:]).tolist(), keys.reshape(lead, *keys.shape[-2:]).tolist())
    scores = [sum(a * b for a, b in zip(q, k)) for queries, ks in pairs for q in queries for k in ks]
    assert raw.shape == scaled.shape == ()
    assert raw.item() == pytest.approx(statistics.variance(scores))
    assert scaled.item() == pytest.approx(statistics.variance([score / math.sqrt(d_k) for score in scores]))


def normal_scores(d_k: int, query: int = 0) -> dict[str, torch.Tensor]:
    """Exercise 06's queries and keys cut to d_k: spreads and weights, raw and scaled."""
    manual_seed(1337)
    torch.randn(4, 8, 2), torch.randint(0, 10, (3, 2)), torch.randn(1, 8, 32)
    for _ in range(3):
        nn.Linear(32, 16)
    nn.Linear(16, 32)
    keys, queries = torch.randn(1, 8, 16)[0], torch.randn(1, 8, 16)[0]
    keys, queries = (torch.cat([one, torch.randn(8, 496)], 1)[:, :d_k] for one in (keys, queries))
    raw = queries @ keys.T
    both = (raw, raw / d_k**0.5)
    return {
        "variance, raw": both[0].var(),
        "variance, scaled": both[1].var(),
        "weights, raw scores": both[0].softmax(-1)[query],
        "weights, scores / √d_k": both[1].softmax(-1)[query],
    }


CASES = [
    Case([], lambda: normal_scores(64, 2), "query 2, with d_k = 64.* √64 = 8.0 they lie closer", 1e-4),
    Case([{"d_k": 1}], lambda: normal_scores(1, 2), "√1 = 1.0 they stay"),
    Case([{"query": 5}], lambda: normal_scores(64, 5), "query 5, with d_k = 64", 1e-4),
]
