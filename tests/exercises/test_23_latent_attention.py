"""Exercise 23's solution against transformers' DeepSeek-V2, and the figure."""

import pytest
import torch
from figure_case import Case


def test_transformers_has_the_same_layer(solution):
    """DeepSeek-V2 in our layout, with nothing in the place of its norm."""
    reason = "transformers (extra dev)"
    modeling = pytest.importorskip("transformers.models.deepseek_v2.modeling_deepseek_v2", reason=reason)
    H, h, c, r, d_in = 2, 3, 5, 4, 10
    config = modeling.DeepseekV2Config(
        hidden_size=d_in, num_attention_heads=H, num_key_value_heads=H, q_lora_rank=None, kv_lora_rank=c,
        qk_rope_head_dim=r, qk_nope_head_dim=h, v_head_dim=h, attention_bias=False, num_hidden_layers=1,
        attn_implementation="eager",
    )  # fmt: skip
    layer = solution.LatentAttention(d_in, H, h, c, r).double()
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


def by_both(first: float, second: float, length: int = 2) -> dict[str, torch.Tensor]:
    """What both ways give with the lesson's matrices, and what each of them costs."""
    up = torch.tensor([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    latent = torch.tensor([[1.0, 0.0, 2.0], [0.0, 1.0, 1.0]])[:length]
    scores = torch.einsum("h,hd,td->t", torch.tensor([float(first), float(second)]), up, latent)
    work = torch.tensor([length * 6.0 + length * 2, 6.0 + length * 3])
    return {"scores": scores, "weights": torch.softmax(scores / 2, dim=-1), "multiplications": work}


ALL = {"Work and weights": True}
CASES = [
    Case([ALL], lambda: by_both(1, 2), "No key is made: .* 12 multiplications, the other way 16"),
    Case(
        [{"Through W": "what is kept"}, ALL],
        lambda: by_both(1, 2),
        "W makes a key of .* 16 multiplications, the other way 12",
    ),
    Case([{"Tokens": 1}, ALL], lambda: by_both(1, 2, 1), "9 multiplications, the other way 8"),
    Case(
        [{"Tokens": 1000, "Query, number 0": -2}, ALL],
        lambda: by_both(-2, 2, 1000),
        "3,006 multiplications, the other way 8,000",
    ),
]
