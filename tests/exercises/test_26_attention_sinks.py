"""Exercise 26's solution against gpt-oss' attention in transformers, and what is done to the figure of its lesson."""

from types import SimpleNamespace

import pytest
import torch
from extras import WhenUsed
from figure_case import Case

from grader.judge.inputs import trained_state

gpt_oss_model = WhenUsed("transformers.models.gpt_oss.modeling_gpt_oss")
LETTERS = "abcdefghijklmnop"
TEXT = "nhpoobobomhnjponanncncnanjfjofn"


def gpt_oss(query, keys, values, sinks, mask=None):
    """What gpt-oss computes from queries, keys and values (B, H, T, h): the output (B, T, H, h) and the weights."""
    module = SimpleNamespace(sinks=sinks, num_key_value_groups=1, training=False)
    return gpt_oss_model.eager_attention_forward(module, query, keys, values, mask, scaling=query.shape[-1] ** -0.5)


@pytest.mark.parametrize("window", [None, 1, 2, 5, 9, 20])
@pytest.mark.parametrize(("B", "T", "d_in", "d_out", "heads"), [(2, 9, 5, 6, 3), (1, 1, 3, 4, 2), (3, 6, 4, 8, 1)])
def test_the_layer_is_that_of_gpt_oss(solution, B, T, d_in, d_out, heads, window):
    torch.manual_seed(33)
    layer = solution.SinkAttention(d_in, d_out, heads, window).double()
    layer.sinks.data.normal_()
    x = torch.randn(B, T, d_in, dtype=torch.float64)
    parts = (layer.W_query, layer.W_key, layer.W_value)
    query, keys, values = (part(x).reshape(B, T, heads, -1).transpose(1, 2) for part in parts)
    seen = [[0 <= row - column < (window or T) for column in range(T)] for row in range(T)]
    mask = torch.zeros(T, T, dtype=torch.float64).masked_fill(~torch.tensor(seen), -torch.inf)
    output, _ = gpt_oss(query, keys, values, layer.sinks, mask)
    torch.testing.assert_close(layer(x), output.reshape(B, T, d_out) @ layer.out_proj.weight.T)


def weights(seen: int, sinks: int, window: int) -> dict[str, torch.Tensor]:
    """The kept positions, and the weights of the newest token in the head of the trained model."""
    state = {name: value.double() for name, value in trained_state("26_attention_sinks").items()}
    x = state["marked.embedding"][torch.tensor([16, *map(LETTERS.index, TEXT)])]
    kept = [place for place in range(seen) if place < sinks or place >= seen - window]
    query, keys = x[seen - 1] @ state["marked.query"], x[kept] @ state["marked.key"]
    angles = torch.arange(len(kept))[:, None] * 10_000.0 ** (-torch.arange(16, dtype=torch.float64) / 16)
    turn = torch.polar(torch.ones_like(angles), angles)
    query, keys = torch.complex(query[:16], query[16:]) * turn[-1], torch.complex(keys[:, :16], keys[:, 16:]) * turn
    scores = (query * keys.conj()).sum(dim=-1).real / 32**0.5
    return {"kept positions": torch.tensor(kept), "weights of the newest token": torch.softmax(scores, dim=0)}


def both(seen: int, sinks: int, window: int) -> dict[str, torch.Tensor]:
    """The same as `weights`, with a second row for the cache that drops the first tokens."""
    shown, others = weights(seen, sinks, window), weights(seen, 0, window)["weights of the newest token"]
    rows = torch.zeros(2, len(shown["kept positions"]), dtype=torch.float64)
    rows[0], rows[1, -len(others) :] = shown["weights of the newest token"], others
    return shown | {"weights of the newest token": rows}


def sentence(seen: int, sinks: int, window: int) -> str:
    """What the sentence says of the share of the first token and of those that are left without it."""
    share = 100 * float(weights(seen, sinks, window)["weights of the newest token"][0])
    digits = 1 if share > 99 else 0
    return rf"<s> gets {share:.{digits}f}.% of its attention\. .* the {window} tokens that are left share"


CASES = [
    Case([], lambda: both(20, 4, 6), f"n, has nothing to look for: {sentence(20, 4, 6)}", 1e-4),
    Case([{"First tokens kept": 1, "Tokens seen": 32, "Window": 3}], lambda: both(32, 1, 3), sentence(32, 1, 3), 1e-4),
    Case([{"Tokens seen": 23}], lambda: both(23, 4, 6), "c, looks for the token before it", 1e-4),
    Case([{"Tokens seen": 2}], lambda: weights(2, 4, 6), "still among the last 6", 1e-4),
]
