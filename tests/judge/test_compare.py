"""`compare` in itself: never calls two different answers the same, treats every odd tensor in a defined way."""

import copy
import itertools
import math
import re

import pytest
import torch
from raised import raised

pytest.importorskip("hypothesis", reason="hypothesis is not installed (extra dev)")

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from thorough import THOROUGH

from grader.catalog.documented import Printed, parse
from grader.judge.compare import CHUNK, ROUNDING, TOLERANCE, Mismatch, differ, expect, expect_shape, same
from grader.judge.proxy import describe_call
from grader.judge.words import kind, number, values
from grader.sandbox.call_results import Call, LearnerError
from grader.worker.codec import Opaque

DTYPES = [torch.float64, torch.float32, torch.float16, torch.bfloat16]
EVERY_DTYPE = [*DTYPES, torch.int64, torch.bool]
FLOATS = st.floats(-1e4, 1e4)
SHAPES = st.lists(st.integers(0, 4), max_size=4).map(tuple)


def random(shape, dtype=torch.float32, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)


@given(SHAPES, st.sampled_from(DTYPES), st.integers(0, 10))
@settings(max_examples=200 if THOROUGH else 50, deadline=None)
def test_every_tensor_is_the_same_as_its_copy(shape, dtype, seed):
    tensor = random(shape, dtype, seed)
    assert same(tensor.clone(), tensor)
    assert same(tensor.clone().requires_grad_(), tensor)
    if tensor.ndim > 1:
        assert same(tensor.mT.contiguous().mT, tensor)


@given(SHAPES, st.sampled_from(DTYPES), st.integers(0, 10**6), st.floats(2, 1e6))
@settings(max_examples=300 if THOROUGH else 100, deadline=None)
def test_one_value_beyond_the_tolerance_is_a_difference(shape, dtype, position, factor):
    tensor = random(shape, dtype)
    assume(tensor.numel())
    absolute, relative = TOLERANCE[dtype]
    other = tensor.clone().double()
    place = position % tensor.numel()
    value = float(other.flatten()[place])
    changed = torch.tensor(value + factor * (absolute + relative * abs(value)), dtype=torch.float64).to(dtype)
    assume(bool(changed.isfinite()) and abs(float(changed) - value) > absolute + relative * abs(value))
    other.view(-1)[place] = changed
    assert not same(other.to(dtype), tensor)


@given(st.sampled_from([math.nan, math.inf, -math.inf]), st.sampled_from([math.nan, math.inf, -math.inf, 0.0, 1e30]))
def test_nan_and_infinities_agree_with_themselves_alone(one, other):
    got, expected = torch.tensor([1.0, one]), torch.tensor([1.0, other])
    assert same(got, expected) == (one == other or (math.isnan(one) and math.isnan(other)))


@given(SHAPES, SHAPES)
def test_other_shapes_are_never_the_same(one, other):
    assume(one != other)
    assert not same(torch.zeros(one), torch.zeros(other))


NESTED = {"context": [torch.tensor([1.0, math.inf]), (torch.tensor([2]),)]}
ALIKE = [
    (torch.tensor([-0.0]), torch.tensor([0.0])),
    (torch.tensor([True, False]), torch.tensor([True, False])),
    (torch.zeros(1).expand(3), torch.zeros(3)),
    (torch.empty(0, 3), torch.empty(0, 3)),
    (torch.tensor(1.0), torch.tensor(1.0)),
    (torch.tensor(2.5), 2.5),
    ((1, "a", None, True), (1, "a", None, True)),
    ([1.0], (1.0,)),
    ({"Life": 0}, {"Life": 0}),
    (torch.tensor([math.nan, 1.0]), torch.tensor([math.nan, 1.0 + 1e-7])),
    (NESTED, copy.deepcopy(NESTED)),
]
DIFFERENT = [
    (torch.tensor([10**9 + 1]), torch.tensor([10**9])),
    (torch.tensor([True, False]), torch.tensor([True, True])),
    (torch.ones(1).expand(3), torch.tensor([1.0, 1.0, 0.0])),
    (torch.empty(0, 3), torch.empty(3, 0)),
    (torch.tensor(1.0), torch.tensor([1.0])),
    (torch.tensor([2.5]), 2.5),
    (torch.ones(2, device="meta"), torch.ones(2)),
    (NESTED, {"context": [torch.tensor([1.0, math.inf]), (torch.tensor([3]),)]}),
    *((torch.ones(2, dtype=one), torch.ones(2, dtype=other)) for one, other in itertools.permutations(EVERY_DTYPE, 2)),
    *((1, True), (True, 1), ("a", "b"), ({"a": 1}, {"a": 2}), ({}, {"a": 1}), ((1,), (1, 2))),
]


def test_values_are_the_same_only_by_type_shape_dtype_and_number():
    for got, expected in ALIKE:
        expect(got, expected)
        assert same(got, expected)
    for got, expected in DIFFERENT:
        assert not same(got, expected), (got, expected)
    for dtype in EVERY_DTYPE:
        assert same(torch.ones(2, dtype=dtype), torch.ones(2, dtype=dtype))


def test_what_is_no_tensor_is_said_in_words():
    for answer in (None, [1.0], (1.0,), "1", 1.0, True, Opaque("a numpy array"), {}):
        assert "expected a tensor of shape (1,)" in str(mismatch(answer, torch.ones(1)))


@pytest.mark.parametrize(
    ("got", "expected", "words"),
    [
        ((2, 6), (6, 2), "the same sizes in another order"),
        ((1, 6, 2), (6, 2), "one dimension of size 1 too many"),
        ((6, 2), (3, 6, 2), "dimension 0 is missing"),
        ((6, 3), (6, 2), "dimension 1 has 3 entries instead of 2"),
    ],
)
def test_shapes_in_words(got, expected, words):
    assert words in mismatch(torch.zeros(got), torch.ones(expected)).summary
    assert re.search(words, str(raised(Mismatch, expect_shape, torch.zeros(got), expected)))


def mismatch(got, expected, what: str = "the result", **how) -> Mismatch:
    return raised(Mismatch, expect, got, expected, what, **how)


def test_the_first_difference_is_told():
    got, expected = torch.zeros(2, 3), torch.zeros(2, 3)
    got[1, 2] = 0.5
    told = mismatch(got, expected)
    assert "1 of 6 values differ" in told.summary
    assert "first difference at [1, 2]: got 0.5000, expected 0.0000, off by 0.5000" in told.details
    assert ", row 1 [0.0000, 0.0000, 0.0000]" in told.details  # the row that differs, and not the first
    assert "0.5" not in told.summary  # the summary is for everybody's eyes
    told = mismatch(got[None].expand(2, 2, 3).contiguous(), torch.zeros(2, 2, 3))
    assert ", row [0, 1] [0.0000, 0.0000, 0.5000]" in told.details
    told = mismatch(torch.tensor([1.0, math.nan, 1.0]), torch.ones(3))
    assert "1 of 3 values is NaN" in told.summary and "off by" not in told.details


def test_a_large_answer_is_compared_in_parts():
    one = torch.rand(5, CHUNK // 4)
    other = one.clone()
    other[4, 4] = 2.0  # in the second part
    expect(one + 1e-7, one)
    error = mismatch(other, one)
    assert f"1 of {one.numel()} values differ" in str(error) and "first difference at [4, 4]" in error.details


def test_as_many_digits_are_told_as_show_the_difference():
    whole = Printed("", torch.tensor([19.0, 6.0], dtype=torch.float64), torch.zeros(2, dtype=torch.float64))
    assert "expected [19, 6]" in mismatch(torch.tensor([19, 7]), whole).details
    told = mismatch(torch.tensor([1.00004, 2.0]), torch.tensor([1.00001, 2.0])).details
    assert "got 1.00004, expected 1.00001, off by" in told
    told = mismatch(0.123456789, 0.123456711, tolerance=1e-9).details
    assert told == "expected 0.123456711, got 0.123456789"
    assert "got 1.5000, expected 1.2500" in mismatch(torch.tensor([1.5]), torch.tensor([1.25])).details


@given(FLOATS)
def test_printed_numbers_hold_to_half_of_their_last_digit(value):
    printed = parse("x", f"{value:.4f}")
    assert isinstance(printed, Printed)
    assert same(torch.tensor(value, dtype=torch.float64), printed)
    assert not same(torch.tensor(value + 2e-4 + 1e-5 * abs(value), dtype=torch.float64), printed)


def test_printed_forms():
    assert parse("x", "(6, 2)").value == (6, 2)
    assert parse("x", "{'Life': 0}").value == {"Life": 0}
    assert parse("x", "1.").tolerance.item() == 0.5e-4
    masked = parse("x", "[[-0.5000, -inf], [inf, 1.2500]]")
    assert same(torch.tensor([[-0.5, -torch.inf], [torch.inf, 1.25]]), masked)
    for wrong in ([[-0.5, torch.inf], [torch.inf, 1.25]], [[-0.5, -1e30], [torch.inf, 1.25]]):
        assert not same(torch.tensor(wrong), masked)
    assert not same(torch.tensor([[-0.6, -torch.inf], [torch.inf, 1.25]]), masked)
    assert parse("x", "[1.0000, -0.25]").tolerance.tolist() == [0.5e-4, 0.5e-2]
    long = parse("x", "0.13854756951332092")
    assert same(torch.tensor(0.13854756951332092), long)
    assert not same(torch.tensor(0.138549), long)
    assert "not numbers" in str(raised(ValueError, parse, "x", "tensor([1.])"))


def test_words_for_values():
    assert kind(None) == "None (is a return missing?)"
    assert kind([1.0, 2.0]) == "a list of 2 floats"
    assert kind((torch.ones(1), torch.ones(1))) == "a tuple of 2 tensors"
    assert [number(one) for one in (1049088.0, 123456.5, 2.0**40, 4.0)] == ["1049088", "1.23e+05", "1.1e+12", "4.0000"]
    assert values(torch.arange(12.0)) == "[0.0000, 1.0000, 2.0000, 3.0000, 4.0000, 5.0000, 6.0000, 7.0000, …]"
    state = torch.ones(1, 1, 2, 1), torch.ones(1, 1, 2)
    called = describe_call("f", (state, [state[1]]), {})
    assert called == "f((tensor (1, 1, 2, 1), tensor (1, 1, 2)), [tensor (1, 1, 2)])"
    assert describe_call("f", (state * 4,), {}) == "f(a tuple of 8 tensors)"


def test_a_part_is_named_as_python_reaches_it():
    right, wrong = torch.zeros(2), torch.ones(2)
    assert mismatch([[right, wrong]], [[right, right]], "the list of caches").summary.startswith(
        "the list of caches[0][1] is wrong: 2 of 2 values differ"
    )


def test_what_is_cut_ends_with_dots():
    assert describe_call("f", (b"x" * 99,), {}).endswith("x…)") and describe_call("f", ("short",), {}) == "f('short')"
    assert mismatch("x" * 999, "short").details.endswith("x…")


def test_two_ints_are_no_shape_unless_they_are_called_one():
    assert mismatch((1, 2), (1, 0), "the head").summary == "the head differs"
    assert "wrong shape" in mismatch((1, 2), (1, 0), "the shape of the keys").summary


SEVERAL = (
    "the weights", "the weights of layer 0", "the context vectors", "the context vectors with padding on the left",
    "the context vectors, where a sequence has no tokens,", "the first four keys", "the kept positions of 20",
)  # fmt: skip
ONE = (
    "the result", "the result, where hidden scores are nan,", "the previous-token score of every head", "the loss",
    "the loss without each head", "the bias", "cos", "the gradient of the keys", "argument 0 after the call",
    "what pack gives",
)  # fmt: skip


def test_several_things_are_spoken_of_in_the_plural():
    for what in (*SEVERAL, *ONE):
        answers = torch.ones(2), torch.ones(3), torch.zeros(2).long()
        verbs = [mismatch(got, torch.zeros(2), what).summary.removeprefix(what).split()[0] for got in answers]
        assert verbs == (["are", "have", "have"] if what in SEVERAL else ["is", "has", "has"]), what


def test_a_mistake_gives_a_few_numbers_that_another_process_rounds_otherwise():
    """Code that rounds to float16 in each step is not the same to the digit in the worker and in the grader."""

    def alike(got, expected):
        return not differ(Call("", "f", "output", [got, "f"]), Call("", "f", "output", [expected, "f"]))

    answer = random((48, 32))
    step = float(answer.abs().max()) * ROUNDING
    other = answer.clone()
    other[3, 5] += 0.9 * step
    assert not same(other, answer) and alike(other, answer)
    assert not alike(other[:10], answer[:10])  # one of 320
    other[3, 5] += step
    assert not alike(other, answer)
    for value in (float("nan"), float("inf")):
        other[3, 5] = value
        assert not alike(other, answer) and not alike(answer, other) and alike(other, other.clone())
    assert not alike([answer], answer[None])
    assert not alike(answer.long() + torch.eye(48, 32).long(), answer.long())


PRODUCTS = (  # three ways to say of one product that its sizes do not fit, and another product
    "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x2)",
    "mat1 and mat2 shapes cannot be multiplied (5x3 and 4x7)",
    "einsum(): subscript j has size 4 for operand 1 which does not broadcast with previously seen size 3",
    "mat1 and mat2 shapes cannot be multiplied (2x4 and 3x2)",
)


def test_wrong_answers_are_told_apart_by_what_is_wrong_and_not_by_names():
    def apart(want: str, *values) -> bool:
        return differ(*(Call("", "f", want, value) for value in values))

    one, other = ({name: torch.ones(2)} for name in ("W_query", "w_query"))
    assert apart("output", one, other) and not apart("describe", one, other) and apart("describe", one, {})
    errors = [LearnerError("exception", {"type": "RuntimeError", "message": text}) for text in PRODUCTS]
    first, *others = (Call("", "f", "output", problem=error) for error in errors)
    assert [differ(first, call) for call in others] == [False, False, True] and differ(first, Call("", "f", "output"))
