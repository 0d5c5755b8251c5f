"""Exercise 11 against torch's own attention layers."""

import pytest
import torch
from figure_case import TO_LESSON, Case
from figure_truths import linear
from torch.nn import functional
from truths import drawn, multi_head

from grader.sentence import inputs

LAYERS = ("W_query", "W_key", "W_value")
SIZES = [(1, 1, 3, 2, 1), (2, 6, 3, 2, 6), (3, 4, 5, 7, 9), (2, 1, 4, 4, 5)]  # B, T, d_in, d_out, context_length


def made(kind, *args):
    """A layer in float64, always of the same weights."""
    torch.manual_seed(11)
    return kind(*args).double()


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("size", SIZES)
def test_context_is_torchs_own(solution, size, bias):
    count, tokens, d_in, d_out, context_length = size
    layer, x = made(solution.CausalAttention, d_in, d_out, context_length, 0.0, bias), drawn(count, tokens, d_in)
    projected = [
        functional.linear(x, getattr(layer, name).weight, getattr(layer, name).bias) for name in LAYERS
    ]  # 3 × (B, T, d_out)
    torch.testing.assert_close(layer(x), functional.scaled_dot_product_attention(*projected, is_causal=True))


@pytest.mark.parametrize("heads", [1, 2, 3])
def test_wrapper_is_multihead_attention_without_a_last_layer(solution, heads):
    """nn.MultiheadAttention with the heads' weights below each other and a unit matrix as its last layer."""
    d_out = 2
    width = heads * d_out  # nn.MultiheadAttention wants tokens as wide as its heads together
    wrapper, x = made(solution.MultiHeadAttentionWrapper, width, d_out, 7, 0.0, heads, True), drawn(3, 5, width)
    parts = [getattr(head, name) for name in LAYERS for head in wrapper.heads]
    theirs = multi_head(heads, torch.cat([part.weight for part in parts]), torch.cat([part.bias for part in parts]))
    hidden = torch.ones(5, 5).triu(1).bool()
    truth, _ = theirs(x, x, x, attn_mask=hidden, need_weights=False)
    torch.testing.assert_close(wrapper(x), truth)


def dropped(p: float, draws: int, token: int = 5) -> dict[str, torch.Tensor]:
    """Exercise 11's last draw, the mean of all up to it and the weights, of one token; and its context vector."""
    W_query, W_key, W_value = linear(123, *[(3, 2)] * 3)
    torch.manual_seed(31)
    numbers = torch.rand(200, 6, 6)[:draws]
    scores = inputs() @ W_query.T @ W_key @ inputs().T / 2**0.5
    weights = torch.softmax(scores.masked_fill(torch.ones(6, 6).triu(1).bool(), -torch.inf), -1)
    each = torch.where(numbers >= p, weights / (1 - p), 0.0)
    return {
        "weights": torch.stack([each[-1], each.mean(0), weights])[:, token, : token + 1],
        "context vector of the last draw": each[-1, token] @ inputs() @ W_value.T,
    }


CASES = [
    Case(
        [],
        says="Draw 200 drops 3 of 6 weights of “step”, .*2.00 times as large.* "
        "The mean of each is 89 to 113.% of its weight",
    ),
    Case([{"Draws": 1}], lambda: dropped(0.5, 1), "Draw 1 drops 3 of 6"),
    Case([{"p": 0.2, "Draws": 200}], lambda: dropped(0.2, 200), "1.25 times"),
    Case(
        [{"Draws": 97}, ("press", "Step")],
        lambda: dropped(0.5, 98),
        "Draw 98 drops .* The mean of each is 82 to 112.% of its weight",
    ),
    Case([{"Weights of": "Your"}], lambda: dropped(0.5, 200, 0), "of 1 weight of “Your”"),
    Case([TO_LESSON], lambda: dropped(0.0, 1), "in eval mode"),
]
