"""Exercise 23's solution against transformers' DeepSeek-V2, and the figure."""

import math

import pytest
import torch
from figure_case import Case
from truths import dot, load


def test_transformers_has_the_same_layer():
    """DeepSeek-V2 in our layout, with nothing in the place of its norm."""
    reason = "transformers (extra dev)"
    modeling = pytest.importorskip("transformers.models.deepseek_v2.modeling_deepseek_v2", reason=reason)
    H, h, c, r, d_in = 2, 4, 6, 4, 10
    config = modeling.DeepseekV2Config(
        hidden_size=d_in, num_attention_heads=H, num_key_value_heads=H, q_lora_rank=None, kv_lora_rank=c,
        qk_rope_head_dim=r, qk_nope_head_dim=h, v_head_dim=h, attention_bias=False, num_hidden_layers=1,
        attn_implementation="eager",
    )  # fmt: skip
    layer = load("23").LatentAttention(d_in, H, h, c, r).double()
    theirs = modeling.DeepseekV2Attention(config, 0).double()
    theirs.kv_a_layernorm = torch.nn.Identity()
    neighbours = torch.arange(r).reshape(2, -1).T.flatten()  # their pairs are neighbours: (0, 2, 1, 3)
    query_rows = torch.cat([torch.arange(h), h + neighbours])
    with torch.no_grad():
        q = layer.q_proj.weight.unflatten(0, (H, -1))[:, query_rows].flatten(0, 1)
        theirs.q_proj.weight.copy_(q)
        theirs.kv_a_proj_with_mqa.weight.copy_(torch.cat([layer.kv_down.weight, layer.k_rope.weight[neighbours]]))
        ups = [up.weight.unflatten(0, (H, -1)) for up in (layer.k_up, layer.v_up)]
        theirs.kv_b_proj.weight.copy_(torch.cat(ups, dim=1).flatten(0, 1))
        theirs.o_proj.weight.copy_(layer.out_proj.weight)
    x = torch.randn(2, 7, d_in, dtype=torch.float64)
    turning = modeling.DeepseekV2RotaryEmbedding(config)(x, torch.arange(7)[None])
    future = torch.full((7, 7), -torch.inf, dtype=torch.float64).triu(1)[None, None]
    got = theirs(x, attention_mask=future, position_embeddings=turning)[0]
    torch.testing.assert_close(got, layer(x)[0], rtol=1e-5, atol=1e-5)


exercise = load("23")


SIZES = [(5, 3, 4, 3, 2), (3, 2, 2, 5, 4), (4, 1, 3, 2, 6), (8, 4, 2, 6, 2), (2, 2, 1, 1, 2)]


def made(sizes, theta=10_000.0):
    torch.manual_seed(29)
    return exercise.LatentAttention(*sizes, theta).double()


def tokens(batch, count, size, seed=1):
    return torch.randn(batch, count, size, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def number_by_number(layer, x):
    """The output of one text (T, d_in), with Python's floats: no tensor is multiplied by another."""
    H, h, r = layer.num_heads, layer.head_dim, layer.d_rope
    times = lambda linear, row: [dot(weights, row) for weights in linear.weight.tolist()]  # noqa: E731

    def turned(row, place):
        angles = [place * layer.rope_theta ** (-2 * i / r) for i in range(r // 2)]
        pairs = [complex(row[i], row[i + r // 2]) * complex(math.cos(a), math.sin(a)) for i, a in enumerate(angles)]
        return [pair.real for pair in pairs] + [pair.imag for pair in pairs]

    rows = x.tolist()
    latents = [times(layer.kv_down, row) for row in rows]
    shared = [turned(times(layer.k_rope, row), place) for place, row in enumerate(rows)]
    keys, values = ([times(up, latent) for latent in latents] for up in (layer.k_up, layer.v_up))
    outputs = []
    for place, row in enumerate(rows):
        queries, merged = times(layer.q_proj, row), []
        for head in range(H):
            query = queries[head * (h + r) : (head + 1) * (h + r)]
            part = slice(head * h, (head + 1) * h)
            scores = [
                dot(query[:h], keys[j][part]) + dot(turned(query[h:], place), shared[j]) for j in range(place + 1)
            ]
            powers = [math.exp(score / math.sqrt(h + r)) for score in scores]
            for i in range(head * h, (head + 1) * h):
                merged.append(sum(power * values[j][i] for j, power in enumerate(powers)) / sum(powers))
        outputs.append(times(layer.out_proj, merged))
    cache = [latent + key for latent, key in zip(latents, shared, strict=True)]
    return torch.tensor(outputs, dtype=torch.float64), torch.tensor(cache, dtype=torch.float64)


@pytest.mark.parametrize("theta", [10_000.0, 30.0])
@pytest.mark.parametrize("sizes", SIZES)
def test_it_is_the_formula_number_by_number(sizes, theta):
    layer, x = made(sizes, theta), tokens(2, 6, sizes[0])
    output, cache = layer(x)
    for text in range(2):
        expected, expected_cache = number_by_number(layer, x[text])
        torch.testing.assert_close(output[text], expected, rtol=1e-6, atol=1e-6)
        torch.testing.assert_close(cache[text], expected_cache, rtol=1e-6, atol=1e-6)


def by_both(first: float, second: float, length: int = 2) -> dict[str, torch.Tensor]:
    """What both ways give with the lesson's matrices, and what each of them costs."""
    up = torch.tensor([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    latent = torch.tensor([[1.0, 0.0, 2.0], [0.0, 1.0, 1.0]])[:length]
    scores = torch.einsum("h,hd,td->t", torch.tensor([float(first), float(second)]), up, latent)
    work = torch.tensor([length * 6.0 + length * 2, 6.0 + length * 3])
    return {"scores": scores, "weights": torch.softmax(scores / 2, dim=-1), "multiplications": work}


FIRST, SECOND, LENGTH = "Query, number 0", "Query, number 1", "Tokens"
MANY, KEYS = ("move", LENGTH, 1000), ("choose", "Through W", "what is kept")
ALL = ("toggle", "Work and weights")
CASES = [
    Case("as it opens", [ALL], lambda: by_both(1, 2), "No key is made: .* 12 multiplications, the other way 16"),
    Case("keys", [KEYS, ALL], lambda: by_both(1, 2), "W makes a key of .* 16 multiplications, the other way 12"),
    Case("one token", [("move", LENGTH, 1), ALL], lambda: by_both(1, 2, 1), "9 multiplications, the other way 8"),
    Case(
        "another query",
        [MANY, ("move", FIRST, -2), ALL],
        lambda: by_both(-2, 2, 1000),
        "3,006 multiplications, the other way 8,000",
    ),
    Case("a query of 0", [KEYS, ("move", FIRST, 0), ("move", SECOND, 0), ALL], lambda: by_both(0, 0)),
]
