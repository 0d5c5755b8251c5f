"""Exercise 07's solution against attention that was written by others, and against plain Python."""

import importlib.util
import math
from pathlib import Path

import pytest
import torch
from figure_case import Case
from figure_truths import made_of

ROOT = Path(__file__).parents[2]
SIZES = [(1, 1, 1), (6, 3, 2), (4, 2, 5), (7, 8, 8)]  # (T, d_in, d_out)


def load(name):
    path = ROOT / "solutions" / name / f"{name[3:]}.py"
    spec = importlib.util.spec_from_file_location(f"truth_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


exercise = load("07_self_attention_v1")


def by_hand(x, w_query, w_key, w_value):
    """Self-attention on nested lists: no tensor, no matrix product."""

    def times(rows, matrix):
        return [[sum(a * b for a, b in zip(row, column)) for column in zip(*matrix)] for row in rows]

    queries, keys, values = times(x, w_query), times(x, w_key), times(x, w_value)
    context = []
    for query in queries:
        scores = [sum(a * b for a, b in zip(query, key)) / math.sqrt(len(key)) for key in keys]
        powers = [math.exp(score - max(scores)) for score in scores]
        context.append([sum(p * v[i] for p, v in zip(powers, values)) / sum(powers) for i in range(len(values[0]))])
    return context


@pytest.mark.parametrize("tokens, d_in, d_out", SIZES)
def test_equals_plain_python(tokens, d_in, d_out):
    torch.manual_seed(7)
    layer = exercise.SelfAttention_v1(d_in, d_out).double()
    x = torch.randn(tokens, d_in, dtype=torch.float64)
    expected = by_hand(x.tolist(), *(weight.tolist() for weight in layer.parameters()))
    torch.testing.assert_close(layer(x), torch.tensor(expected, dtype=torch.float64))


@pytest.mark.parametrize("tokens, d_in, d_out", SIZES)
def test_equals_torchs_own_attention(tokens, d_in, d_out):
    layer = exercise.SelfAttention_v1(d_in, d_out).double()
    x = torch.randn(tokens, d_in, dtype=torch.float64)
    projected = (x[None] @ weight for weight in (layer.W_query, layer.W_key, layer.W_value))
    expected = torch.nn.functional.scaled_dot_product_attention(*projected)[0]
    torch.testing.assert_close(layer(x), expected)


def test_gradients_equal_finite_differences():
    layer = exercise.SelfAttention_v1(3, 2).double()
    names = [name for name, _ in layer.named_parameters()]
    x = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)

    def call(x, *weights):
        return torch.func.functional_call(layer, dict(zip(names, weights)), (x,))

    weights = [weight.detach().requires_grad_() for weight in layer.parameters()]
    assert torch.autograd.gradcheck(call, (x, *weights))


def test_equal_tokens_have_equal_context_vectors():
    layer = exercise.SelfAttention_v1(3, 2)
    context = layer(torch.randn(3).expand(5, 3))
    torch.testing.assert_close(context, context[:1].expand(5, 2))


def test_zero_queries_give_the_mean_of_the_values():
    """The lesson's example."""
    layer = exercise.SelfAttention_v1(2, 2)
    with torch.no_grad():
        layer.W_query.zero_()
        layer.W_value.copy_(torch.tensor([[3.0, 0.0], [0.0, 6.0]]))
    x = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    torch.testing.assert_close(layer(x), torch.tensor([[2.0, 4.0]]).expand(3, 2))


def test_an_optimizer_changes_all_three_matrices():
    layer = exercise.SelfAttention_v1(3, 2)
    before = [weight.clone() for weight in layer.parameters()]
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.5)
    layer(torch.randn(4, 3)).square().sum().backward()
    optimizer.step()
    assert all(not torch.equal(old, new) for old, new in zip(before, layer.parameters()))


# The figure: what is done to it, and what torch computes must come out.


CASES = [
    Case("a walk begins", [("press", "Step")], made_of(123), r"^queries\[1, 0\]"),
    Case("and goes on", [("press", "Reset")] + 3 * [("press", "Step")], says=r"^weights\[1, 2\]"),
    Case("a weight", [("pick", "weights", 1, 4)], made_of(123), r"0\.5577 / √2.*= 0\.0906"),
    Case("a score", [("pick", "scores", 1, 1)], made_of(123), r"0\.4306 · 0\.4433 .*= 1\.8524"),
    Case(
        "by the keyboard",
        [("pick", "queries", 0, 0), ("key", "ArrowDown"), ("key", "ArrowRight")],
        made_of(123),
        r"^queries\[1, 1\].*= 1\.4551",
    ),
    Case("an input", [("pick", "inputs", 0, 2)], says="0.8900 is given"),
]
