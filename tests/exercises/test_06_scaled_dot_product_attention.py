"""Exercise 06's solution against torch's own attention, plain Python sums and what the paper says of variances."""

import importlib.util
import math
import statistics
from pathlib import Path

import pytest
import torch
from figure_case import Case
from torch import nn
from torch.nn import functional

from grader.judge.inputs import manual_seed

ROOT = Path(__file__).resolve().parents[2]
SLUG = "scaled_dot_product_attention"
SHAPES = [((), 1, 1, 1, 1), ((), 3, 5, 4, 7), ((3,), 3, 3, 3, 5), ((2,), 1, 6, 5, 1), ((2, 3), 4, 5, 7, 2)]


@pytest.fixture(scope="module")
def solution():
    spec = importlib.util.spec_from_file_location(f"truth_{SLUG}", ROOT / "solutions" / f"06_{SLUG}" / f"{SLUG}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def drawn(lead, T_q, T_k, d_k, d_v, seed=6):
    """Queries, keys and values in float64."""
    generator = torch.Generator().manual_seed(seed)
    sizes = ((*lead, T_q, d_k), (*lead, T_k, d_k), (*lead, T_k, d_v))
    return [torch.randn(size, generator=generator, dtype=torch.float64) for size in sizes]


def plain_weights(query, keys):
    """The weights of one query, with nothing but Python's numbers."""
    scores = [sum(q * k for q, k in zip(query, key, strict=True)) / math.sqrt(len(query)) for key in keys]
    top = max(scores)
    exponentials = [math.exp(score - top) for score in scores]
    return [e / math.fsum(exponentials) for e in exponentials]


@pytest.mark.parametrize("shape", SHAPES)
def test_attention_is_torchs_own(solution, shape):
    query, keys, values = drawn(*shape)
    truth = functional.scaled_dot_product_attention(query, keys, values)
    torch.testing.assert_close(solution.scaled_dot_product_attention(query, keys, values), truth)


@pytest.mark.parametrize("shape", SHAPES)
def test_gradients_are_torchs_own(solution, shape):
    inputs = [x.requires_grad_() for x in drawn(*shape)]
    truth = torch.autograd.grad(functional.scaled_dot_product_attention(*inputs).square().sum(), inputs)
    mine = torch.autograd.grad(solution.scaled_dot_product_attention(*inputs).square().sum(), inputs)
    torch.testing.assert_close(mine, truth)


def test_attention_is_a_head_of_multihead_attention_without_projections(solution):
    """nn.MultiheadAttention with unit matrices as weights: its output and its weights are ours."""
    d = 5
    query, keys, values = drawn((2,), 3, 4, d, d)
    layer = torch.nn.MultiheadAttention(d, 1, bias=False, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        layer.in_proj_weight.copy_(torch.eye(d).repeat(3, 1))
        layer.out_proj.weight.copy_(torch.eye(d))
    context, weights = layer(query, keys, values)
    torch.testing.assert_close(solution.scaled_dot_product_attention(query, keys, values), context)
    torch.testing.assert_close(solution.scaled_attention_weights(query, keys), weights)


@pytest.mark.parametrize("shape", SHAPES)
def test_weights_and_context_are_the_plain_sums(solution, shape):
    query, keys, values = drawn(*shape)
    weights = solution.scaled_attention_weights(query, keys)
    context = solution.scaled_dot_product_attention(query, keys, values)
    lead = math.prod(shape[0])
    sequences = (x.reshape(lead, *x.shape[-2:]).tolist() for x in (query, keys, values, weights, context))
    for queries, ks, vs, ws, cs in zip(*sequences, strict=True):
        for q, w, c in zip(queries, ws, cs, strict=True):
            truth = plain_weights(q, ks)
            assert w == pytest.approx(truth)
            columns = zip(*vs, strict=True)
            assert c == pytest.approx([math.fsum(a * v for a, v in zip(truth, column)) for column in columns])


def test_one_query_is_a_row_of_many(solution):
    query, keys, values = drawn((), 3, 5, 4, 7)
    weights = solution.scaled_attention_weights(query, keys)
    context = solution.scaled_dot_product_attention(query, keys, values)
    for row, one in enumerate(query):
        torch.testing.assert_close(solution.scaled_attention_weights(one, keys), weights[row])
        torch.testing.assert_close(solution.scaled_dot_product_attention(one, keys, values), context[row])


def test_score_is_the_plain_sum(solution):
    query, keys, _ = drawn((), 1, 1, 16, 1)
    score = solution.attention_score(query[0], keys[0])
    assert score.shape == ()
    products = [q * k for q, k in zip(query[0].tolist(), keys[0].tolist(), strict=True)]
    assert score.item() == pytest.approx(math.fsum(products))


@pytest.mark.parametrize("shape", SHAPES[1:])
def test_variances_are_those_of_the_standard_library(solution, shape):
    query, keys, _ = drawn(*shape)
    raw, scaled = solution.score_variances(query, keys)
    lead, d_k = math.prod(shape[0]), shape[3]
    pairs = zip(query.reshape(lead, *query.shape[-2:]).tolist(), keys.reshape(lead, *keys.shape[-2:]).tolist())
    scores = [sum(a * b for a, b in zip(q, k)) for queries, ks in pairs for q in queries for k in ks]
    assert raw.shape == scaled.shape == ()
    assert raw.item() == pytest.approx(statistics.variance(scores))
    assert scaled.item() == pytest.approx(statistics.variance([score / math.sqrt(d_k) for score in scores]))


def test_variance_of_raw_scores_is_near_d_k(solution):
    """What the lesson says: standard normal queries and keys give a variance near d_k, scaled near 1."""
    for d_k in (4, 64):
        raw, scaled = solution.score_variances(*drawn((64,), 16, 16, d_k, 1)[:2])
        assert raw.item() == pytest.approx(d_k, rel=0.1)
        assert scaled.item() == pytest.approx(1, rel=0.1)


def test_large_scores_are_finite(solution):
    query = torch.tensor([[1e4, -1e4], [-1e4, 1e4]])
    keys = torch.eye(2)
    torch.testing.assert_close(solution.scaled_attention_weights(query, keys), torch.eye(2))


# The figure: what is done to it, and what torch computes must come out.


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
        "variance of the scores": torch.stack([one.var() for one in both]),
        "weights, raw scores": both[0].softmax(-1)[query],
        "weights, scores / √d_k": both[1].softmax(-1)[query],
    }


CASES = [
    Case("one", [("move", "d_k", 1)], lambda: normal_scores(1)),
    Case("many", [("move", "d_k", 512)], lambda: normal_scores(512), "d_k = 512", 1e-4),
    Case("another query", [("move", "d_k", 64), ("move", "query", 5)], lambda: normal_scores(64, 5), "d_k = 64", 1e-4),
]
