"""Exercise 14's solution against attention that was written by others, and against finite differences."""

import importlib.util
from pathlib import Path

import pytest
import torch

PATH = Path(__file__).parents[2] / "solutions" / "14_cross_attention" / "cross_attention.py"
SIZES = [(1, 1, 1, 1, 1), (6, 8, 3, 2, 4), (4, 2, 5, 5, 3)]  # T_1, T_2, d_in, d_out_kq, d_out_v
spec = importlib.util.spec_from_file_location("truth_14", PATH)
exercise = importlib.util.module_from_spec(spec)
spec.loader.exec_module(exercise)


@pytest.mark.parametrize("sizes", SIZES)
def test_equals_torchs_own_attention(sizes):
    T_1, T_2, d_in, d_out_kq, d_out_v = sizes
    layer = exercise.CrossAttention(d_in, d_out_kq, d_out_v).double()
    x_1, x_2 = torch.randn(T_1, d_in, dtype=torch.float64), torch.randn(T_2, d_in, dtype=torch.float64)
    query, key, value = x_1[None] @ layer.W_query, x_2[None] @ layer.W_key, x_2[None] @ layer.W_value
    expected = torch.nn.functional.scaled_dot_product_attention(query, key, value)[0]
    torch.testing.assert_close(layer(x_1, x_2), expected)


def test_gradients_equal_finite_differences():
    layer = exercise.CrossAttention(3, 2, 4).double()
    x_1 = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    x_2 = torch.randn(5, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(layer, (x_1, x_2))
