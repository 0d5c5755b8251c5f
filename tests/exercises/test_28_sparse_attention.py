"""Exercise 28's solution number by number, and the figure."""

import math

import pytest
import torch
from figure_case import TO_LESSON, Case

SHAPES = [(2, 3, 7, 4, 3, 2), (1, 1, 1, 2, 2, 1), (3, 1, 5, 2, 6, 9), (1, 2, 17, 3, 2, 6)]  # (B, H, T, h, d_v, k)


def read(query, keys, values, chosen):
    """One query's attention to these keys, by loops over numbers."""
    if not chosen:
        return [0.0] * values.shape[-1]
    powers = [math.exp(float(query @ keys[j]) / math.sqrt(len(query))) for j in chosen]
    return [sum(p * float(values[j, d]) for p, j in zip(powers, chosen)) / sum(powers) for d in range(values.shape[1])]


@pytest.mark.parametrize("shape", SHAPES)
def test_each_query_reads_its_selected_keys(solution, shape):
    B, H, T, h, d_v, k = shape
    torch.manual_seed(sum(shape))
    queries, keys, values = (torch.randn(B, H, T, size, dtype=torch.float64) for size in (h, h, d_v))
    indices = torch.rand(B, T, T).argsort(dim=-1)[..., :k]
    indices = indices.masked_fill(torch.rand(indices.shape) < 0.4, -1)
    got = solution.sparse_attention(queries, keys, values, indices)
    for b, head, row in torch.cartesian_prod(*map(torch.arange, (B, H, T))).tolist():
        chosen = [j for j in indices[b, row].tolist() if j >= 0]
        expected = read(queries[b, head, row], keys[b, head], values[b, head], chosen)
        assert got[b, head, row].tolist() == pytest.approx(expected)


def chosen(k: int, count: int = 12, weights: tuple = (1.0, 1.0), relu: bool = True) -> dict[str, torch.Tensor]:
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
    Case([TO_LESSON, {"Keys to read (k)": 5}], lambda: chosen(5, 4), "1 of the 5 places stays empty"),
    Case([{"Products": True}], lambda: chosen(4), "Keys 1 and 3 score the same, and are left out only because"),
    Case(
        [TO_LESSON, {"Weight of head 0": 2, "Weight of head 1": -1}],
        lambda: chosen(2, 4, (2.0, -1.0)),
        r"Key 2 scores 2\s·\s1\s\+\s−1\s·\s0\s=\s2\. Key 3 scores the same",
    ),
    Case([TO_LESSON, {"relu": False}], lambda: chosen(2, 4, relu=False), "The best key left out scores 2"),
]
