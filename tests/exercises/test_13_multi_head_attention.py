"""Exercise 13's solution against torch's own attention head by head and against plain loops, in float64."""

import pytest
import torch
from figure_case import TO_LESSON, Case
from torch import nn
from truths import drawn

from grader import catalog
from grader.catalog import documented


@pytest.mark.parametrize("bias", (False, True))
@pytest.mark.parametrize("heads", (1, 2, 4, 8))
@pytest.mark.parametrize("shape", ((1, 1), (2, 5), (3, 8)))
def test_it_is_torchs_causal_attention_head_by_head(solution, shape, heads, bias):
    torch.manual_seed(heads)
    layer, x = solution.MultiHeadAttention(3, 8, 8, 0.0, heads, bias).double(), drawn(*shape, 3)
    parts = [part(x).chunk(heads, dim=-1) for part in (layer.W_query, layer.W_key, layer.W_value)]
    each = [nn.functional.scaled_dot_product_attention(*head, is_causal=True) for head in zip(*parts, strict=True)]
    torch.testing.assert_close(layer(x), layer.out_proj(torch.cat(each, dim=-1)))


def test_split_merge_and_project_by_loops(solution):
    torch.manual_seed(3)
    x = torch.randn(2, 3, 6)
    split = solution.split_heads(x, 2)
    assert split.shape == (2, 2, 3, 3)
    for b, h, t, i in torch.cartesian_prod(*map(torch.arange, split.shape)).tolist():
        assert split[b, h, t, i] == x[b, t, 3 * h + i]
    assert torch.equal(solution.merge_heads(split), x)
    inputs, weights = torch.randn(4, 5, dtype=torch.float64), torch.randn(3, 2, 5, dtype=torch.float64)
    projected = solution.project_heads(inputs, weights)
    assert projected.shape == (3, 4, 2)
    for h, t, o in torch.cartesian_prod(*map(torch.arange, projected.shape)).tolist():
        assert projected[h, t, o].item() == pytest.approx(sum((inputs[t] * weights[h, o]).tolist()))


def example_heads() -> torch.Tensor:
    """Exercise 13's x (3, 8), from the printed heads."""
    known = {number.id: number.data.value for number in documented.numbers(catalog.find("13").folder)}
    return torch.cat([known["example_head_1"], known["example_head_2"]], 1)


def split(heads: int, numbered: bool = False) -> dict[str, torch.Tensor]:
    """Exercise 13's heads, split in the right way and in the wrong one."""
    x = torch.arange(24.0).reshape(3, 8) if numbered else example_heads()
    right, wrong = x.reshape(3, heads, -1).transpose(0, 1), x.reshape(heads, 3, -1)
    return {"x": x} | {
        f"{name} {n}": one for name, cut in (("head", right), ("wrong head", wrong)) for n, one in enumerate(cut)
    }


CASES = [
    Case([], lambda: split(2, True), "16 of 24 numbers get into the row of another token"),
    Case([{"Heads": "1"}], lambda: split(1, True), "With one head, view alone keeps every row in its colour too"),
    Case([TO_LESSON, {"Numbers of the lesson": False, "Heads": "4"}], lambda: split(4, True), "12 of 24 numbers"),
]
