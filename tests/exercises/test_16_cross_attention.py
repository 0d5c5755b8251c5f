"""Exercise 16's solution against torch's own attention, and the figure."""

import functools
import runpy

import pytest
import torch
from figure_case import TO_LESSON, Case
from torch import nn
from truths import drawn

from grader.catalog import paths
from grader.judge.inputs import manual_seed


@pytest.mark.parametrize("T_1, T_2, d_in, d_out_kq, d_out_v", [(1, 1, 1, 1, 1), (6, 8, 3, 2, 4), (4, 2, 5, 5, 3)])
def test_equals_torchs_own_attention(solution, T_1, T_2, d_in, d_out_kq, d_out_v):
    layer, x_1, x_2 = solution.CrossAttention(d_in, d_out_kq, d_out_v).double(), drawn(T_1, d_in), drawn(T_2, d_in)
    query, key, value = x_1[None] @ layer.W_query, x_2[None] @ layer.W_key, x_2[None] @ layer.W_value
    expected = torch.nn.functional.scaled_dot_product_attention(query, key, value)[0]
    torch.testing.assert_close(layer(x_1, x_2), expected)


def crossed(second: int) -> dict[str, torch.Tensor]:
    """The lesson's weights and context vectors of a first sentence that looks at the first tokens of the second one."""
    manual_seed(123)
    x_1 = nn.Embedding(50_000, 3)(torch.tensor([0, 4, 5, 2, 1, 3]))
    manual_seed(123)
    W_query, W_key, W_value = torch.rand(3, 2), torch.rand(3, 2), torch.rand(3, 4)
    x_2 = torch.rand(8, 3)[:second]
    weights = torch.softmax(x_1 @ W_query @ (x_2 @ W_key).T / 2**0.5, -1)
    return {"weights": weights, "context vectors": weights @ x_2 @ W_value}


@functools.cache
def experiment_and_model():
    """The experiment, and the model that it trains."""
    experiment = runpy.run_path(str(paths.EXERCISES / "16_cross_attention" / "experiment.py"))
    german, english, new = experiment["sentences"]()
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with torch.enable_grad():
        model = experiment["trained"](german[~new], english[~new])
    torch.set_num_threads(threads)
    return experiment, model


def translated(second: int = 4) -> dict[str, torch.Tensor]:
    """The experiment's weights of one sentence, or of its first words."""
    experiment, model = experiment_and_model()
    words = torch.tensor([experiment["ENGLISH"].index(word) for word in ("I", "saw", "the", "cat")[:second]])
    return {"weights": experiment["translate"](model, words)[1]}


CASES = [
    Case([], lambda: translated(3), r"5.×.3 weights.*“die” looks most at “the”.* now that “cat” is gone"),
    Case([{"Tokens of x_2": 4}], translated, r"5.×.4 weights.*it needs the noun"),
    Case([("pick", "weights", 1, 0)], lambda: translated(3), r"“habe” looks most at “I”, with 0\.99"),
    Case([{"Tokens of x_2": 1}], lambda: translated(1), r"5.×.1 weights.*with 1\.000"),
    Case([TO_LESSON, {"Tokens of x_2": 3}], lambda: crossed(3), r"6.×.3 .*“Life” looks at token 2 .*most at token 0"),
]
