"""The gradients of each solution are those of small steps: the checks compare a learner's gradients with its own.

In float64, so that a solution that computes in less is found as well.
"""

import pytest
import torch
from truths import load

MASK = torch.tensor([[True, False, True], [False] * 3])
STARTS = torch.tensor([0, 3, 3, 5], dtype=torch.int32)
BLOCKS, LENGTHS = torch.tensor([[3, 1], [0, -1]]), torch.tensor([3, 2])
CHOSEN = torch.tensor([[[0, -1, 2], [-1, -1, -1], [1, 0, 3], [3, 2, 0]]])


def draw(*shapes):
    """Tensors in float64 with gradients, always the same."""
    generator = torch.Generator().manual_seed(7)
    return [torch.randn(shape, dtype=torch.float64, generator=generator, requires_grad=True) for shape in shapes]


# For the number of an exercise: what its solution is asked, and with which numbers.
CALLS = {
    "01": lambda s: [
        (s.dot_product, draw(3, 3)),
        (s.attention_scores_for_query, draw((4, 3), 3)),
        (s.attention_scores, draw((4, 3))),
    ],
    "02": lambda s: [
        (s.softmax_naive, draw((4, 3))),
        (lambda x: s.normalize_by_sum(x.exp()), draw(4)),
        (lambda x: s.softmax_stable(x, dim=0), draw((4, 3))),
        (lambda x: s.softmax_stable(1e4 * x), draw((4, 3))),
    ],
    "03": lambda s: [
        (s.attention_weights, draw((4, 3))),
        (s.context_vectors, draw((4, 3))),
        (lambda x: s.context_vector(x, 2), draw((4, 3))),
    ],
    "04": lambda s: [(s.TokenEmbedding(4, 3), [torch.tensor([[1, 1], [3, 1]])])],
    "05": lambda s: [(s.project, draw((4, 3), *[(3, 2)] * 3)), (s.project_columns, draw((4, 3), *[(2, 3)] * 3))],
    "06": lambda s: [
        (s.scaled_attention_weights, draw((3, 4), (5, 4))),
        (s.scaled_dot_product_attention, draw((2, 3, 4), (2, 5, 4), (2, 5, 3))),
        (s.score_variances, draw((2, 3, 4), (2, 5, 4))),
    ],
    "07": lambda s: [(s.SelfAttention_v1(3, 2), draw((4, 3)))],
    "08": lambda s: [(s.SelfAttention_v2(3, 2, True), draw((2, 4, 3)))],
    "09": lambda s: [(average, draw((2, 4, 2))) for average in (s.average_loop, s.average_matmul, s.average_softmax)],
    "10": lambda s: [
        (lambda x: s.causal_attention_weights(x, 3), draw((2, 4, 4))),
        (lambda x: s.mask_then_renormalize(x.softmax(-1)), draw((2, 4, 4))),
        (lambda x: s.mask_scores(x)[..., -1, :], draw((2, 4, 4))),
    ],
    "11": lambda s: [
        (s.CausalAttention(3, 2, 5, 0.0, True), draw((2, 4, 3))),
        (s.MultiHeadAttentionWrapper(3, 2, 5, 0.0, 2), draw((2, 4, 3))),
    ],
    "12": lambda s: [
        (layer, draw((2, 4, 4)))
        for layer in (s.AttentionHead(4, 2), s.MultiHeadSelfAttention(4, 2), s.CausalHead(4, 2))
    ],
    "13": lambda s: [(s.MultiHeadAttention(3, 4, 5, 0.0, 2, True), draw((2, 5, 3)))],
    "16": lambda s: [(s.CrossAttention(3, 2, 4), draw((4, 3), (5, 3)))],
    "17": lambda s: [(s.FusedMultiHeadAttention(3, 4, 5, 0.0, 2, True), draw((2, 5, 3)))],
    "18": lambda s: [
        (lambda x: s.masked_softmax(x, MASK), draw((2, 2, 3))),
        (lambda *x: s.packed_attention(*x, STARTS, True), draw(*[(5, 2, 2)] * 3)),
        (lambda x: s.pack(x, STARTS.diff())[0], draw((3, 4, 2))),
        (lambda x: s.unpack(x, STARTS, 4), draw((5, 2))),
    ],
    "19": lambda s: [(lambda x: s.apply_rope(x, *s.rope_angles(4, 9), 2), draw((2, 3, 4)))],
    "21": lambda s: [
        (s.GroupedQueryAttention(3, 8, 4, 2), draw((2, 5, 3))),
        (lambda x: s.repeat_kv(x, 3), draw((2, 2, 3, 2))),
    ],
    "22": lambda s: [
        (lambda *x, window=window: s.sliding_window_attention(*x, window), draw(*[(1, 2, 8, 2)] * 3))
        for window in (1, 3, 9)
    ],
    "23": lambda s: [
        (s.LatentAttention(3, 2, 2, 3, 2), draw((2, 3, 3), (2, 2, 5))),
        (absorbing(s.LatentAttention(3, 2, 2, 3, 2)), draw((2, 1, 3), (2, 2, 5))),
    ],
    "24": lambda s: [(lambda *x: s.paged_attention(*x, BLOCKS, LENGTHS), draw((2, 4, 3), (5, 2, 2, 3), (5, 2, 2, 3)))],
    "25": lambda s: [
        (lambda *x, call=call: call(*(row.softmax(-1) for row in x)), draw((2, 4), (2, 4)))
        for call in (s.acceptance_rate, s.residual)
    ],
    "26": lambda s: [
        (s.sink_softmax, draw((1, 2, 3, 4), 2)),
        (s.SinkAttention(3, 4, 2, 3), draw((2, 5, 3))),
    ],
    "27": lambda s: [
        (s.feature_map, draw((3, 4))),
        (s.linear_attention, draw((1, 2, 3, 2), (1, 2, 4, 2), (1, 2, 4, 3))),
        (lambda *x: s.causal_linear_attention(*x, 2), draw((1, 2, 5, 2), (1, 2, 5, 2), (1, 2, 5, 3))),
        (lambda q, k, v: s.linear_step(s.linear_step(None, q, k, v)[1], q, k, v)[0], draw(*[(1, 2, 3)] * 3)),
        (lambda state, *x: s.gated_delta_rule(*x, 2, state), draw((1, 1, 2, 2), *[(1, 1, 5, 2)] * 3, *[(1, 1, 5)] * 2)),
        (s.gated_delta_step, draw((1, 1, 2, 2), *[(1, 1, 2)] * 3, *[(1, 1)] * 2)),
    ],
    "28": lambda s: [
        (lambda *x: s.sparse_attention(*x, CHOSEN), draw(*[(1, 2, 4, 2)] * 3)),
        (
            lambda *x: s.indexed_attention(*x, 2, 3),
            draw(*[(1, 2, 4, 2)] * 3, (1, 4, 2, 3), (1, 4, 3), (1, 4, 2)),
        ),
        (s.index_scores, draw((1, 4, 2, 3), (1, 4, 3), (1, 4, 2))),
        (lambda x: s.coverage(x, CHOSEN), draw((1, 2, 4, 4))),
    ],
}


def absorbing(layer):
    """A layer that is called by the name of its other way."""
    layer.forward = layer.absorbed_step
    return layer


@pytest.mark.parametrize("number", CALLS)
def test_gradients_are_those_of_small_steps(number):
    for call, inputs in CALLS[number](load(number)):
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
