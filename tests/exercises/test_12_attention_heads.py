"""Exercise 12's solution against torch's own attention and against plain Python loops, in float64."""

import importlib.util
import math
from pathlib import Path

import pytest
import torch
from figure_case import Case
from torch import nn

from grader.judge.inputs import manual_seed

PATH = Path(__file__).resolve().parents[2] / "solutions" / "12_attention_heads" / "attention_heads.py"
SHAPES = ((1, 1), (1, 6), (3, 4))  # (B, T)


@pytest.fixture(scope="module")
def solution():
    spec = importlib.util.spec_from_file_location("attention_heads", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def torch_attention(query, key, value, output=None):
    """nn.MultiheadAttention in float64 whose weights are these, one per head."""
    size = sum(len(weight) for weight in query)
    layer = nn.MultiheadAttention(size, len(query), batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        layer.in_proj_weight.copy_(torch.cat([*query, *key, *value]))
        layer.in_proj_bias.zero_()
        layer.out_proj.weight.copy_(output.weight if output else torch.eye(size))
        layer.out_proj.bias.copy_(output.bias if output else torch.zeros(size))
    return layer


@pytest.mark.parametrize("shape", SHAPES)
def test_a_head_is_torchs_attention_with_one_head(solution, shape):
    torch.manual_seed(sum(shape))
    head = solution.AttentionHead(6, 6).double()
    truth = torch_attention([head.query.weight], [head.key.weight], [head.value.weight])
    x = torch.randn(*shape, 6, dtype=torch.float64)
    torch.testing.assert_close(head(x), truth(x, x, x)[0])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("heads", (1, 2, 3, 6))
def test_several_heads_are_torchs_multihead_attention(solution, heads, shape):
    torch.manual_seed(heads)
    layer = solution.MultiHeadSelfAttention(6, heads).double()
    weights = ([getattr(head, name).weight for head in layer.heads] for name in ("query", "key", "value"))
    truth = torch_attention(*weights, layer.output_linear)
    x = torch.randn(*shape, 6, dtype=torch.float64)
    torch.testing.assert_close(layer(x), truth(x, x, x)[0])


@pytest.mark.parametrize("shape", SHAPES)
def test_a_causal_head_by_loops(solution, shape):
    torch.manual_seed(sum(shape))
    layer = solution.CausalHead(5, 3).double()
    x = torch.randn(*shape, 5, dtype=torch.float64)
    result = layer(x)

    def linear(part, vector):
        weight, bias = part.weight.tolist(), part.bias.tolist()
        return [sum(w * v for w, v in zip(row, vector)) + b for row, b in zip(weight, bias)]

    for sequence, outputs in zip(x.tolist(), result.tolist()):
        parts = (layer.key, layer.query, layer.value)
        keys, queries, values = ([linear(part, token) for token in sequence] for part in parts)
        for t, output in enumerate(outputs):
            powers = [math.exp(sum(k * q for k, q in zip(keys[t], queries[j]))) for j in range(t + 1)]
            context = [sum(p * values[j][i] for j, p in enumerate(powers)) / sum(powers) for i in range(3)]
            assert output == pytest.approx(linear(layer.out, context), abs=1e-12)


def test_uneven_heads_are_refused(solution):
    with pytest.raises(ValueError):
        solution.MultiHeadSelfAttention(32, 5)


# The figure: what is done to it, and what torch computes must come out.


def two_hands(queries_first: bool, scaled: bool, masked: bool) -> dict[str, torch.Tensor]:
    """Exercise 12's scores and weights."""
    manual_seed(1337)
    torch.randn(4, 8, 2), torch.randint(0, 10, (3, 2))
    x = torch.randn(1, 8, 32)[0]
    keys, queries = nn.Linear(32, 16)(x), nn.Linear(32, 16)(x)
    scores = (queries @ keys.T if queries_first else keys @ queries.T) / (4 if scaled else 1)
    scores = scores.masked_fill(torch.ones(8, 8).triu(1).bool(), -torch.inf) if masked else scores
    return {"scores": scores, "weights": torch.softmax(scores, -1)}


CASES = [
    Case("a pair", [("pick", "scores", 5, 2)], says="Key 5 and query 2 .* with the other order hidden by the mask"),
    Case(
        "a pair without a mask",
        [("toggle", "Mask"), ("pick", "weights", 4, 1)],
        lambda: two_hands(False, False, False),
        "with the other order the weight",
    ),
    Case(
        "queries as rows",
        [("choose", "Scores", "queries @ keysᵀ")],
        lambda: two_hands(True, False, True),
        "query i",
    ),
    Case("scaled", [("toggle", "Divide by √head_size")], lambda: two_hands(False, True, True)),
    Case("no mask", [("toggle", "Mask"), ("toggle", "Divide by √head_size")], lambda: two_hands(False, True, False)),
]
