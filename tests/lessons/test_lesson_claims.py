"""What lessons say about torch and about attention without a table of their own, measured here."""

import warnings

import pytest
import torch
from torch import nn

from grader import catalog
from grader.catalog import paths
from grader.sentence import inputs

ONE, STEP = 4, 5  # rows of the sentence


def lesson(number: str) -> str:
    return paths.lesson(catalog.find(number).folder).read_text("utf-8")


def queries_and_keys(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """With the matrices of lesson 05."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(123)
        to_query, to_key = torch.rand(3, 2), torch.rand(3, 2)
    return x @ to_query, x @ to_key


@pytest.fixture
def warned_each_time():
    """torch gives some warnings once in a process."""
    torch.set_warn_always(True)
    yield
    torch.set_warn_always(False)


@pytest.mark.parametrize("cut", [torch.Tensor.tolist, torch.Tensor.detach, lambda t: t[0].item()])
def test_00_these_cuts_are_silent(cut, warned_each_time):
    t = torch.tensor([1.0, 2.0], requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cut(t)


def test_00_these_cuts_speak_up(warned_each_time):
    t = torch.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(RuntimeError, match="requires grad"):
        t.numpy()
    for cut in (torch.tensor, lambda t: float(t[0])):
        with pytest.warns(UserWarning, match="detach"):
            cut(t)
    with pytest.raises(RuntimeError, match="does not require grad"):
        t.detach().sum().backward()


def test_00_what_looks_right_and_is_not():
    words = torch.tensor([[1.0, 2.0, 6.0], [0.0, 4.0, 8.0], [3.0, 3.0, 0.0]])
    assert words.mean(dim=1).tolist() == [3, 4, 2]
    wrong = words - words.mean(dim=1) != words - words.mean(dim=1, keepdim=True)
    assert wrong.tolist() == (~torch.eye(3, dtype=torch.bool)).tolist(), "6 of 9, all but the diagonal"
    assert (words @ words).shape == (3, 3) and (words @ words)[0, 0] == 19 and words[0] @ words[0] == 41
    means = torch.tensor([0, 0, 0])
    for n in range(3):
        means[n] = words[0, : n + 1].mean()
    assert means.tolist() == [1, 1, 3]
    t = words[0].clone().requires_grad_()
    for other, gradient in ((t, [2, 4, 12]), (t.detach(), [1, 2, 6])):
        loss = (t * other).sum()
        assert loss == 41 and torch.autograd.grad(loss, t)[0].tolist() == gradient
    layer = nn.Module()
    layer.factors = torch.ones(3)
    assert list(layer.parameters()) == []


def test_00_sizes_that_differ_show_two_of_the_five_mistakes():
    rows = torch.tensor([[1.0, 2.0, 6.0], [0.0, 4.0, 8.0]])
    for mistake in (lambda: rows - rows.mean(dim=1), lambda: rows @ rows):
        with pytest.raises(RuntimeError):
            mistake()


def test_02_the_scores_at_which_exp_overflows():
    assert torch.tensor(89.0).exp().isinf() and torch.tensor(88.0).exp().isfinite()
    half = torch.tensor([11.0, 12.0]).exp().half()
    assert half[0].isfinite() and half[1].isinf()


def test_02_a_higher_score_changes_the_ratio_of_shares_and_moves_a_weight_by_its_slope():
    before, after = (torch.softmax(torch.tensor([0.0, 0.0, score]), dim=0) for score in (1.0, 1.1))
    assert f"{after[2]:.3f}" in lesson("02") and round(float(after[2] - before[2]), 3) == 0.024
    ratios = [float(weights[2] / weights[0]) for weights in (before, torch.softmax(torch.tensor([0.0, 0.0, 2.0]), 0))]
    assert abs(ratios[1] / ratios[0] - 2.718) < 1e-3


def test_04_one_step_of_a_row_that_two_positions_share():
    table = nn.Embedding.from_pretrained(torch.tensor([[1.0, 0.0], [0.2, 0.7]]), freeze=False)
    table(torch.tensor([1, 1])).backward(torch.eye(2))
    row = (table.weight - 0.1 * table.weight.grad)[1].tolist()
    assert f"becomes ${[round(number, 4) for number in row]}$" in lesson("04")


def test_05_two_words_have_the_same_scores_in_another_sentence():
    x = inputs()
    queries, keys = queries_and_keys(x)
    other_queries, other_keys = queries_and_keys(x[[ONE, 0, STEP]])  # another sentence
    torch.testing.assert_close(other_queries[0] @ other_keys[2], queries[ONE] @ keys[STEP])


def test_08_a_query_of_linear_has_the_variance_one_third():
    torch.manual_seed(123)
    with torch.no_grad():
        assert abs(nn.Linear(256, 64, bias=False)(torch.randn(500, 256)).var() - 1 / 3) < 0.02


def test_10_one_less_what_goes_has_the_values_and_not_the_gradients():
    torch.manual_seed(123)
    weights = torch.softmax(torch.randn(4, 4, dtype=torch.float64), dim=-1).requires_grad_()
    kept, gone = weights.tril(), weights.triu(1)
    by_rest, by_gone = kept / kept.sum(dim=-1, keepdim=True), kept / (1 - gone.sum(dim=-1, keepdim=True))
    torch.testing.assert_close(by_rest, by_gone)
    upstream = torch.randn(4, 4, dtype=torch.float64)
    one, other = (torch.autograd.grad(way, weights, upstream, retain_graph=True)[0] for way in (by_rest, by_gone))
    assert (one - other).abs().max() > 0.1


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_10_the_smallest_number_of_the_dtype_hides_the_future_too(dtype):
    torch.manual_seed(123)
    scores, future = torch.randn(4, 4).to(dtype), torch.ones(4, 4, dtype=torch.bool).triu(1)
    hidden = [scores.masked_fill(future, fill) for fill in (-torch.inf, torch.finfo(dtype).min)]
    assert torch.equal(*(torch.softmax(each, dim=-1) for each in hidden))
    assert torch.softmax(scores.masked_fill(future, -10.0), dim=-1)[future].min() > 0


def test_17_the_work_that_the_lesson_allows_is_that_of_the_check():
    check = paths.hidden_checks(catalog.find("20").folder).read_text("utf-8")
    assert "work_grows_less_than(16 * size * (2048 - 64)," in check and "$16 \\cdot d_{out}$" in lesson("20")
