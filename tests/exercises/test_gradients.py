"""The gradients of each solution are those of small steps: the checks compare a learner's gradients with its own.

In float64, so that a solution that computes in less is found as well.
"""

import functools

import pytest
import torch
from truths import load

MASK = torch.tensor([[True, False, True], [False] * 3])
STARTS = torch.tensor([0, 3, 3, 5], dtype=torch.int32)
BLOCKS, LENGTHS = torch.tensor([[3, 1], [0, -1]]), torch.tensor([3, 2])
CHOSEN = torch.tensor([[[0, -1, 2], [-1, -1, -1], [1, 0, 3], [3, 2, 0]]])


# The number of an exercise, what its solution is asked, and the shapes of the arguments, or an argument itself.
CALLS = [
    ("01", lambda s: s.dot_product, 3, 3),
    ("01", lambda s: s.attention_scores_for_query, (4, 3), 3),
    ("01", lambda s: s.attention_scores, (4, 3)),
    ("02", lambda s: s.softmax_naive, (4, 3)),
    ("02", lambda s: lambda x: s.normalize_by_sum(x.exp()), 4),
    ("02", lambda s: lambda x: s.softmax_stable(x, dim=0), (4, 3)),
    ("02", lambda s: lambda x: s.softmax_stable(1e4 * x), (4, 3)),
    ("03", lambda s: s.attention_weights, (4, 3)),
    ("03", lambda s: s.context_vectors, (4, 3)),
    ("03", lambda s: lambda x: s.context_vector(x, 2), (4, 3)),
    ("04", lambda s: s.TokenEmbedding(4, 3), torch.tensor([[1, 1], [3, 1]])),
    ("05", lambda s: s.project, (4, 3), (3, 2), (3, 2), (3, 2)),
    ("05", lambda s: s.project_columns, (4, 3), (2, 3), (2, 3), (2, 3)),
    ("06", lambda s: s.scaled_attention_weights, (3, 4), (5, 4)),
    ("06", lambda s: s.scaled_dot_product_attention, (2, 3, 4), (2, 5, 4), (2, 5, 3)),
    ("06", lambda s: s.score_variances, (2, 3, 4), (2, 5, 4)),
    ("07", lambda s: s.SelfAttention_v1(3, 2), (4, 3)),
    ("08", lambda s: s.SelfAttention_v2(3, 2, True), (2, 4, 3)),
    ("09", lambda s: s.average_loop, (2, 4, 2)),
    ("09", lambda s: s.average_matmul, (2, 4, 2)),
    ("09", lambda s: s.average_softmax, (2, 4, 2)),
    ("10", lambda s: lambda x: s.causal_attention_weights(x, 3), (2, 4, 4)),
    ("10", lambda s: lambda x: s.mask_then_renormalize(x.softmax(-1)), (2, 4, 4)),
    ("10", lambda s: lambda x: s.mask_scores(x)[..., -1, :], (2, 4, 4)),
    ("11", lambda s: s.CausalAttention(3, 2, 5, 0.0, True), (2, 4, 3)),
    ("11", lambda s: s.MultiHeadAttentionWrapper(3, 2, 5, 0.0, 2), (2, 4, 3)),
    ("12", lambda s: s.AttentionHead(4, 2), (2, 4, 4)),
    ("12", lambda s: s.MultiHeadSelfAttention(4, 2), (2, 4, 4)),
    ("12", lambda s: s.CausalHead(4, 2), (2, 4, 4)),
    ("13", lambda s: s.MultiHeadAttention(3, 4, 5, 0.0, 2, True), (2, 5, 3)),
    ("16", lambda s: s.CrossAttention(3, 2, 4), (4, 3), (5, 3)),
    ("17", lambda s: s.FusedMultiHeadAttention(3, 4, 5, 0.0, 2, True), (2, 5, 3)),
    ("18", lambda s: lambda x: s.masked_softmax(x, MASK), (2, 2, 3)),
    ("18", lambda s: lambda *x: s.packed_attention(*x, STARTS, True), *[(5, 2, 2)] * 3),
    ("18", lambda s: lambda x: s.pack(x, STARTS.diff())[0], (3, 4, 2)),
    ("18", lambda s: lambda x: s.unpack(x, STARTS, 4), (5, 2)),
    ("19", lambda s: lambda x: s.apply_rope(x, *s.rope_angles(4, 9), 2), (2, 3, 4)),
    ("21", lambda s: s.GroupedQueryAttention(3, 8, 4, 2), (2, 5, 3)),
    ("21", lambda s: lambda x: s.repeat_kv(x, 3), (2, 2, 3, 2)),
    ("22", lambda s: lambda *x: s.sliding_window_attention(*x, 1), *[(1, 2, 8, 2)] * 3),
    ("22", lambda s: lambda *x: s.sliding_window_attention(*x, 3), *[(1, 2, 8, 2)] * 3),
    ("22", lambda s: lambda *x: s.sliding_window_attention(*x, 9), *[(1, 2, 8, 2)] * 3),
    ("23", lambda s: s.LatentAttention(3, 2, 2, 3, 2), (2, 3, 3), (2, 2, 5)),
    ("23", lambda s: absorbing(s.LatentAttention(3, 2, 2, 3, 2)), (2, 1, 3), (2, 2, 5)),
    ("24", lambda s: lambda *x: s.paged_attention(*x, BLOCKS, LENGTHS), (2, 4, 3), (5, 2, 2, 3), (5, 2, 2, 3)),
    ("25", lambda s: lambda *x: s.acceptance_rate(*(row.softmax(-1) for row in x)), (2, 4), (2, 4)),
    ("25", lambda s: lambda *x: s.residual(*(row.softmax(-1) for row in x)), (2, 4), (2, 4)),
    ("26", lambda s: s.sink_softmax, (1, 2, 3, 4), 2),
    ("26", lambda s: s.SinkAttention(3, 4, 2, 3), (2, 5, 3)),
    ("27", lambda s: s.feature_map, (3, 4)),
    ("27", lambda s: s.linear_attention, (1, 2, 3, 2), (1, 2, 4, 2), (1, 2, 4, 3)),
    ("27", lambda s: lambda *x: s.causal_linear_attention(*x, 2), (1, 2, 5, 2), (1, 2, 5, 2), (1, 2, 5, 3)),
    ("27", lambda s: lambda *x: s.linear_step(s.linear_step(None, *x)[1], *x)[0], *[(1, 2, 3)] * 3),
    (
        "27",
        lambda s: lambda state, *x: s.gated_delta_rule(*x, 2, state),
        (1, 1, 2, 2),
        *[(1, 1, 5, 2)] * 3,
        *[(1, 1, 5)] * 2,
    ),
    ("27", lambda s: s.gated_delta_step, (1, 1, 2, 2), *[(1, 1, 2)] * 3, *[(1, 1)] * 2),
    ("28", lambda s: lambda *x: s.sparse_attention(*x, CHOSEN), *[(1, 2, 4, 2)] * 3),
    ("28", lambda s: lambda *x: s.indexed_attention(*x, 2, 3), *[(1, 2, 4, 2)] * 3, (1, 4, 2, 3), (1, 4, 3), (1, 4, 2)),
    ("28", lambda s: s.index_scores, (1, 4, 2, 3), (1, 4, 3), (1, 4, 2)),
    ("28", lambda s: lambda x: s.coverage(x, CHOSEN), (1, 2, 4, 4)),
]


def absorbing(layer):
    """A layer that is called by the name of its other way."""
    layer.forward = layer.absorbed_step
    return layer


@pytest.mark.parametrize("row", CALLS, ids=lambda row: row[0])
def test_gradients_are_those_of_small_steps(row):
    number, make, *shapes = row
    draw = functools.partial(torch.randn, dtype=torch.float64, generator=torch.Generator().manual_seed(7))
    inputs = [one if isinstance(one, torch.Tensor) else draw(one, requires_grad=True) for one in shapes]
    call = make(load(number))
    if isinstance(call, torch.nn.Module):
        call, inputs = with_parameters(call.double(), inputs)
    assert torch.autograd.gradcheck(call, inputs)


def with_parameters(layer, inputs):
    """The layer as a function of its inputs and its parameters, and those."""
    names, weights = zip(*layer.named_parameters(), strict=True)

    def call(*given):
        state = dict(zip(names, given[len(inputs) :], strict=True))
        return torch.func.functional_call(layer, state, given[: len(inputs)])

    return call, (*inputs, *weights)
