"""What is done to the figure of exercise 22, and what torch computes must come out."""

import pytest
import torch
from figure_case import TO_LESSON, Case
from truths import drawn

WINDOWS = (1, 2, 3, 7, 8, 64, 130, 1000)


def window(tokens: int, width: int, layers: int = 1) -> dict[str, torch.Tensor]:
    """Exercise 22's mask, and what is seen through some layers: the mask's powers."""
    mask = torch.ones(tokens, tokens).tril() - torch.ones(tokens, tokens).tril(-width)
    seen = torch.linalg.matrix_power(mask, layers) > 0
    return {"mask": mask, **({f"seen through {layers} layers": seen.float()} if layers > 1 else {})}


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("shape", [(1, 1, 1, 1), (2, 3, 8, 4), (1, 2, 150, 5)])
def test_it_is_masked_attention_over_all_tokens(solution, shape, window):
    """The mask is written down place by place."""
    inputs = [drawn(*shape, seed=seed) for seed in range(3)]
    mask = torch.tensor([[0 <= row - column < window for column in range(shape[2])] for row in range(shape[2])])
    expected = torch.nn.functional.scaled_dot_product_attention(*inputs, attn_mask=mask)
    torch.testing.assert_close(solution.sliding_window_attention(*inputs, window), expected)


MASKS = {"Masks": True}
CASES = [
    Case([MASKS], lambda: window(12, 3, 3), r"Through 3 layers that is 3.·.2.=.6\."),
    Case([TO_LESSON, {"Tokens": 9, "Window": 4}], lambda: window(9, 4), r"1.·.3.=.3\."),
    Case([MASKS, {"Layers": 6}], lambda: window(12, 3, 6), "6.·.2.=.12, more than the 11 that there are"),
]
