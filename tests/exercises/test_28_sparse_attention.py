"""Exercise 28's solution against DeepSeek-V3.2's indexer in transformers, and the figure."""

import pytest
import torch
from extras import when_used
from figure_case import TO_LESSON, Case
from truths import load

exercise = load("28")
deepseek = when_used("transformers.models.deepseek_v32.modeling_deepseek_v32")


@pytest.mark.parametrize("k", [1, 3, 12])
@pytest.mark.parametrize(("B", "T", "small_heads", "c"), [(1, 6, 4, 4), (2, 9, 8, 6), (3, 12, 5, 8)])
def test_scores_and_choice_are_those_of_deepseek(B, T, small_heads, c, k):
    torch.manual_seed(B + T + k)
    config = deepseek.DeepseekV32Config(
        hidden_size=10, q_lora_rank=7, index_n_heads=small_heads, index_head_dim=c, qk_rope_head_dim=2, index_topk=k
    )
    indexer = deepseek.DeepseekV32Indexer(config, 0)
    x, latent = torch.randn(B, T, 10), torch.randn(B, T, 7)
    turns = torch.ones(B, T, 2), torch.zeros(B, T, 2)  # no rotation
    causal = torch.ones(T, T, dtype=torch.bool).tril().expand(B, T, T)
    expected = indexer(x, latent, turns, causal, torch.arange(T)[None])
    queries = indexer.wq_b(latent).unflatten(-1, (small_heads, c))
    scores = exercise.index_scores(queries, indexer.k_norm(indexer.wk(x)), indexer.weights_proj(x))
    got = exercise.top_keys(scores, k)
    for row in range(T):
        seen = min(row + 1, k)
        mine, theirs = (scores[:, row].gather(-1, found[:, row, :seen].long()) for found in (got, expected))
        torch.testing.assert_close(mine, theirs)  # their scales change no order; of equals they may take another
        assert (got[:, row, seen:] == -1).all()


def chosen(
    k: int, count: int = 12, weights: tuple[float, float] = (1.0, 1.0), relu: bool = True
) -> dict[str, torch.Tensor]:
    """What two small heads make of so many keys, and the keys that the last token chooses."""
    products = torch.tensor(
        [
            [3.0, -2.0, 1.0, 2.0, 0.0, 1.0, -1.0, 4.0, 1.0, -3.0, 5.0, -1.0],
            [1.0, 4.0, -1.0, 2.0, 1.0, 5.0, -2.0, 3.0, 1.0, 0.0, -1.0, 3.0],
        ]
    )[:, :count]
    kept = products.clamp(min=0) if relu else products
    scores = torch.tensor([weights]) @ kept
    ranked = sorted(range(count), key=lambda key: (-float(scores[0, key]), key))[:k]
    name = "products after relu, and scores" if relu else "products, and scores"
    return {name: torch.cat([kept, scores]), "chosen keys": torch.tensor(ranked + [-1] * (k - len(ranked)))}


CASES = [
    Case(
        "more places than keys",
        [TO_LESSON, ("move", "Keys to read (k)", 5)],
        lambda: chosen(5, 4),
        "1 of the 5 places stays empty",
    ),
    Case(
        "as it opens",
        [("toggle", "Products")],
        lambda: chosen(4),
        "Keys 1 and 3 score the same, and are left out only because",
    ),
    Case(
        "a head that votes against",
        [TO_LESSON, ("move", "Weight of head 0", 2), ("move", "Weight of head 1", -1)],
        lambda: chosen(2, 4, (2.0, -1.0)),
        r"Key 2 scores 2\s·\s1\s\+\s−1\s·\s0\s=\s2\. Key 3 scores the same",
    ),
    Case(
        "no relu", [TO_LESSON, ("toggle", "relu")], lambda: chosen(2, 4, relu=False), "The best key left out scores 2"
    ),
]
