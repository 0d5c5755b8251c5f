"""Exercise 27's solution against transformers' gated delta rule, and the figure."""

import math
import runpy

import pytest
import torch
from extras import WhenUsed
from figure_case import TO_LESSON, Case
from torch.nn import functional as F
from truths import load

from grader.catalog import paths

NAME = "27_linear_attention"
exercise = load("27")
qwen = WhenUsed("transformers.models.qwen3_next.modeling_qwen3_next")
SHAPES = [(1, 1, 1, 1, 1), (2, 3, 9, 4, 5), (1, 2, 150, 8, 3), (3, 1, 64, 2, 6)]  # (B, H, T, h, d_v)
CHUNKS = (1, 2, 7, 64, 150, 200)


def steps(inputs):
    """gated_delta_step, token by token."""
    *inputs, state = inputs
    outputs = []
    for token in range(inputs[0].shape[2]):
        output, state = exercise.gated_delta_step(state, *(x[:, :, token] for x in inputs))
        outputs.append(output)
    return torch.stack(outputs, dim=2), state


@pytest.mark.parametrize("shape", SHAPES)
def test_the_delta_rule_is_that_of_qwen3_next(shape):
    """Queries, keys of length 1, values, log decays and betas, and a first state."""
    B, H, T, h, d_v = shape
    torch.manual_seed(31)
    keys = F.normalize(torch.randn(B, H, T, h), dim=-1)
    inputs = [torch.randn(B, H, T, h), keys, torch.randn(B, H, T, d_v), -torch.rand(B, H, T), torch.rand(B, H, T)]
    inputs.append(torch.randn(B, H, h, d_v))
    swapped = [x.transpose(1, 2) for x in inputs[:5]]  # their layout is (B, T, H, …)
    rule = qwen.torch_recurrent_gated_delta_rule
    output, last = rule(*swapped, initial_state=inputs[5], output_final_state=True)
    expected = output.transpose(1, 2), last
    torch.testing.assert_close(tuple(steps(inputs)), expected, rtol=1e-5, atol=1e-5)
    for chunk_size in CHUNKS:
        got = exercise.gated_delta_rule(*inputs[:5], chunk_size, inputs[5])
        torch.testing.assert_close(got, expected, rtol=1e-4, atol=2e-5)


def data_of(name: str) -> torch.Tensor:
    figure = runpy.run_path(str(paths.ROOT / "grader" / "checks" / NAME / "figure.py"))
    return figure["data"](None)[name]


def summed(count: int):
    """Features above 1 are one more than the numbers below them, and 1 is the feature of 0."""
    tokens = data_of("tokens")[:count].double()
    queries, keys, values = tokens[None, None, :, :2] - 1, tokens[None, None, :, 2:4] - 1, tokens[None, None, :, 4:]
    state = None
    for i in range(count):
        output, state = exercise.linear_step(state, queries[:, :, i], keys[:, :, i], values[:, :, i])
    in_cache = exercise.linear_attention(queries[:, :, -1:], keys, values).flatten()
    return {
        "the state": torch.stack([state[0][0, 0, :, 0], state[1][0, 0]]),
        "read": torch.stack([in_cache, output.flatten()]),
    }


def shown(pairs: int, width: int = 2, beta: float = 1.0, decay: float = 1.0, alone: bool = False):
    keys = data_of("narrow" if width == 2 else "wide")[:pairs].double()
    if alone:
        exponents = torch.arange(pairs - 1, -1, -1, dtype=torch.float64)
        state = (keys * beta * decay ** exponents[:, None]).mT  # the values are one-hot
    else:
        gates = [torch.full((1, 1, pairs), number, dtype=torch.float64) for number in (math.log(decay), beta)]
        values = torch.eye(pairs, dtype=torch.float64)[None, None]
        state = exercise.gated_delta_rule(keys[None, None], keys[None, None], values, *gates)[1][0, 0]
    features = exercise.feature_map(keys)
    likeness = features @ features.mT
    likeness = likeness / likeness.sum(dim=-1, keepdim=True)
    counts = []
    for reads in (torch.softmax(keys @ keys.mT, dim=-1), likeness, keys @ state):
        others = reads.masked_fill(torch.eye(pairs, dtype=torch.bool), -torch.inf).amax(dim=-1)
        counts.append((reads.diagonal() > others + 1e-6).sum())
    return {"what each key reads of each pair": keys @ state, "pairs recalled": torch.stack(counts)[:, None]}


DELTA = {"State": "delta rule"}
CASES = [
    Case(
        [{"Tokens": 10}],
        lambda: summed(10),
        r"holds 30 numbers, the state 4. The query \(2,.3\) reads the same in both",
    ),
    Case([], lambda: summed(3), "holds 9 numbers, the state 4"),
    Case([TO_LESSON], lambda: summed(3), r"\(2.·.19.\+.1.·.22\) / \(2.·.4.\+.1.·.4\).=.5"),
    Case([DELTA], lambda: shown(3), "Key 1 reads the least of its own value: 0.3600"),
    Case(
        [{"Tokens": 10}, DELTA, {"The state has": "8 rows", "Beta": 0.5, "Decay": 0.9}],
        lambda: shown(10, 8, beta=0.5, decay=0.9),
    ),
    Case([DELTA, {"Tokens": 4, "Leave out the correction": True}], lambda: shown(4, alone=True), "the sum"),
]
