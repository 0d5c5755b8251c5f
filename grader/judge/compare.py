"""Compares answers: with the expected one, and two answers with each other.

`expect` compares type, dtype, shape and values within a tolerance, and raises Mismatch, whose text is what the learner
reads. `differ` and `outline` say how far two answers are alike, for the diagnosis.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from grader.catalog.documented import Printed
from grader.judge.words import (
    dtype_name,
    is_plain,
    is_plural,
    kind,
    number,
    numbers_apart,
    shape_words,
    shorten,
    values,
)
from grader.sandbox.call_results import Call, LearnerError
from grader.worker.codec import Opaque

MOST_EXACT_INT = 2**53  # in a float64
FORBIDDEN = "line "  # how the summary begins that names the line of a forbidden use
# How far apart two right answers may lie: |got − expected| ≤ absolute + relative · |expected|.
# Chosen by measurement: `python tests/bench/tolerances.py` prints how much of it right answers use, and by how
# much wrong ones exceed it; docs/promises.md says how far.
TOLERANCE = {
    torch.float64: (1e-6, 1e-6),  # right answers may pass through float32 constants
    torch.float32: (1e-5, 1e-5),
    torch.float16: (4e-3, 4e-3),
    torch.bfloat16: (3e-2, 3e-2),
}
# For scores of ±10,000: float32 is off by 0.0005 there, of which exp(score − logsumexp) makes a share of each weight.
LARGE_TOLERANCE = 5e-3
CHUNK = 1 << 20  # elements that are compared at once
CUDA_FACTOR = 4.0  # other order of summation, TF32 off
FEW = 500  # one number of so many may be rounded otherwise in another process
ROUNDING = 2.0**-9  # of the largest value: two steps of float16
SHAPE = "the shape"  # of something
LARGEST = 1 << 64  # int that is compared
MAX_TEXT = 200  # characters of a value that is no tensor
UNSAID = ""  # what is compared, where nobody reads the words of a Mismatch: then none are made
OWN_WORDS = re.compile(r"(raise|assert)\b")  # a line whose exception says what its author wrote
DIGITS = re.compile(r"\d+")
# What torch says of a product whose sizes do not fit: those of the left and of the right factor that should be equal.
NO_PRODUCT = (
    re.compile(r"mat1 and mat2 shapes cannot be multiplied \(\d+x(?P<left>\d+) and (?P<right>\d+)x\d+\)"),
    re.compile(r"Expected size for .* batch2 tensor to be: \[(\d+), (?P<left>\d+)\] but got: \[\1, (?P<right>\d+)\]"),
    re.compile(r"einsum\(\): subscript \w has size (?P<right>\d+) for operand 1 .* previously seen size (?P<left>\d+)"),
)
SUGGESTION = re.compile(r"\. Did you mean: '\w+'\?$")  # which other names there are differs from file to file
COUNTS = re.compile(r"(cell \d+, )?line \d+|\d+ of \d+ values? (differ|is|are)")


@dataclass
class Mismatch(AssertionError):
    """An answer that is not the expected one.

    `summary` is safe to show to anybody; `details` holds values; `cause`, where given, says what was done for certain;
    what: is compared, "the result" as a rule; is_right: where two tensors agree.
    """

    summary: str
    details: str = ""
    got: object = None
    expected: object = None
    cause: str = ""
    what: str = "the result"
    is_right: torch.Tensor | None = None

    def __str__(self) -> str:
        return self.summary


def difference(got: torch.Tensor, expected: torch.Tensor, is_right: torch.Tensor, what: str) -> Mismatch:
    """The Mismatch of two tensors of one shape. is_right: where they agree."""
    is_wrong = ~is_right
    index = _index(int(is_wrong.reshape(-1).view(torch.uint8).argmax()), is_wrong.shape)
    total, count = expected.numel(), int(is_wrong.sum())
    got_value, expected_value = got[index].item(), expected[index].item()
    not_finite = _not_finite(got, expected)
    share = f"{count} of {total} values differ" if total > 1 else "the value differs"
    summary = f"{what} {'are' if is_plural(what) else 'is'} wrong: {not_finite or share}"
    location = f" at [{', '.join(map(str, index))}]" if index else ""
    details = f"expected {values(expected, index)}\ngot      {values(got, index)}\nfirst difference{location}: "
    details += "got {}, expected {}".format(*numbers_apart(got_value, expected_value))
    if isinstance(got_value, float) and math.isfinite(got_value) and math.isfinite(expected_value):
        details += f", off by {number(abs(got_value - expected_value))}"
    return Mismatch(summary, details + f" ({share})", got, expected, what=what, is_right=is_right)


def close(got: torch.Tensor, expected: torch.Tensor, absolute: Any, relative: Any) -> torch.Tensor:
    """Whether the elements of two float tensors agree: a bool tensor. NaN agrees with NaN, ±inf with itself alone."""
    finite = torch.isfinite(got) & torch.isfinite(expected)
    is_close = (got - expected).abs() <= absolute + relative * expected.abs()
    nans = torch.isnan(got) & torch.isnan(expected)
    return torch.where(finite, is_close, (got == expected) | nans)


def close_in_chunks(got: torch.Tensor, expected: torch.Tensor, absolute: float, relative: float) -> torch.Tensor:
    """As `close`, in float64 and in parts, because an answer that is compared with an earlier one may have any size."""
    if expected.numel() <= CHUNK:
        return close(got.double(), expected.double(), absolute, relative)
    chunks = zip(torch.split(got.reshape(-1), CHUNK), torch.split(expected.reshape(-1), CHUNK))
    return torch.cat(
        [close(got_chunk.double(), expected_chunk.double(), absolute, relative) for got_chunk, expected_chunk in chunks]
    ).view(got.shape)


def expect(got: Any, expected: Any, what: str = "the result", tolerance: float | None = None) -> None:
    """Raise Mismatch unless `got` is `expected`: type, dtype, shape and values.

    expected may be a tensor, a number, text, a list, tuple or dict of these, or a `Printed`. A tuple of ints is a shape
    in the message where `what` begins with SHAPE.
    tolerance, where given, is absolute and replaces the table's.
    """
    if isinstance(expected, Printed):
        return _expect_printed(got, expected, what)
    if isinstance(expected, torch.Tensor):
        return _expect_tensor(got, expected, what, tolerance)
    if isinstance(expected, (tuple, list)):
        return _expect_sequence(got, expected, what, tolerance)
    if isinstance(expected, dict):
        return _expect_dict(got, expected, what, tolerance)
    if isinstance(expected, bool) or isinstance(got, bool) or not isinstance(expected, (int, float)):
        if type(got) is not type(expected) or got != expected:
            summary = f"{what} differs" if type(got) is type(expected) else f"{what} is {kind(got)}"
            raise Mismatch(summary, f"expected {expected!r}, got {_plain(got)}", got, expected, what=what)
        return None
    if isinstance(got, torch.Tensor) and got.ndim == 0 and got.dtype != torch.bool and got.device.type != "meta":
        got = got.item()
    if not _is_number(got):
        raise Mismatch(f"{what} is {kind(got)}; expected a number", "", got, expected)
    room = tolerance if tolerance is not None else 1e-5 * max(1.0, abs(expected) * isinstance(expected, float))
    if not (got == expected or (math.isfinite(expected) and abs(got - expected) <= room)):
        mine, theirs = f"{got:.6g}", f"{expected:.6g}"
        mine, theirs = numbers_apart(got, expected) if mine == theirs else (mine, theirs)
        raise Mismatch(f"{what} differs", f"expected {theirs}, got {mine}", got, expected, what=what)
    return None


def expect_shape(got: Any, shape: tuple[int, ...], what: str = "the result") -> None:
    """Raise Mismatch unless `got` is a tensor of this shape."""
    _demand_tensor(got, what, shape)
    if tuple(got.shape) != tuple(shape):
        raise Mismatch(shape_words(tuple(got.shape), tuple(shape), what), "", got, shape)


def same(got: Any, expected: Any, tolerance: float | None = None) -> bool:
    """Whether two answers are alike, by the same rules as `expect`."""
    try:
        expect(got, expected, UNSAID, tolerance)
    except Mismatch:
        return False
    return True


def differ(first: Call, second: Call) -> bool:
    """Whether two calls had other answers."""
    if first.problem is None and second.problem is None:
        if second.want == "describe":
            first, second = _without_names(first, second)
        return not _agree(_in_words(first.value), _in_words(second.value))
    return first.problem is None or second.problem is None or outline(first.problem) != outline(second.problem)


def outline(error: BaseException) -> tuple[Any, ...]:
    """The kind and the words of a failure. Two failures are alike where these are equal.

    The words of a learner's own `raise` or `assert` do not count: each writes others. The sizes in torch's count in any
    order: x.masked_fill(mask, 0) and its twin with _ tell them in another one. Of a product whose sizes do not fit,
    those two count alone, whether it was written with @ or as einsum. Where parameters are missing or surplus, it
    counts whether those that are there are weights, biases or neither: linear layers by other names are no
    nn.Parameters, and a bias is no mask.
    """
    if isinstance(error, LearnerError):
        own_words = OWN_WORDS.match(error.frame[2])
        text = "" if own_words else words(error)
        product = next((found for pattern in NO_PRODUCT if (found := pattern.match(text))), None)
        if product is not None:
            return (error.kind, error.facts.get("type"), "no product", [product["left"], product["right"]])
        return (error.kind, error.facts.get("type"), DIGITS.sub("", text), sorted(DIGITS.findall(text)))
    parameter_kinds = error.got if isinstance(error, Mismatch) and isinstance(error.got, frozenset) else None
    return ("mismatch", None, words(error), parameter_kinds)


def words(error: BaseException) -> str:
    """The words of a failure, without places and counts."""
    if isinstance(error, LearnerError):
        return SUGGESTION.sub("", str(error.facts.get("message", error.facts.get("signature", ""))))[:200]
    return COUNTS.sub("", error.summary if isinstance(error, Mismatch) else str(error))


def _index(number: int, shape: torch.Size) -> tuple[int, ...]:
    """The indices of the element with this number in row-major order."""
    indices = []
    for size in reversed(shape):
        number, index = divmod(number, size)
        indices.append(index)
    return tuple(reversed(indices))


def _not_finite(got: torch.Tensor, expected: torch.Tensor) -> str:
    """How many values are NaN or infinite where the expected ones are not; "" where none is."""
    if got.dtype not in TOLERANCE:
        return ""
    for name, test in (("NaN", torch.isnan), ("inf", torch.isinf)):
        count = int((test(got) & ~test(expected.to(got.dtype))).sum())
        if count:
            return f"{count} of {got.numel()} values {'is' if count == 1 else 'are'} {name}"
    return ""


def _demand_tensor(got: Any, what: str, shape: Any, expected: torch.Tensor | None = None) -> None:
    if not isinstance(got, torch.Tensor) or not is_plain(got):
        wanted = tuple(shape) if expected is None else expected
        raise Mismatch(f"{what} is {kind(got)}; expected a tensor of shape {tuple(shape)}", "", got, wanted)


def _is_number(value: Any) -> bool:
    """Whether it is an int or a float that can be computed with as a float."""
    return isinstance(value, float) or (isinstance(value, int) and abs(value) <= LARGEST)


def _demand_same_device(got: torch.Tensor, what: str, expected: torch.Tensor) -> None:
    """Raise Mismatch where only one of two tensors has values."""
    if got.device.type != expected.device.type:
        without = got.device.type == "meta"
        device = "the device meta: it has a shape, but no values" if without else "another device"
        raise Mismatch(f"{what} is on {device}", "", got, expected)


def _expect_tensor(got: Any, expected: torch.Tensor, what: str, tolerance: float | None) -> None:
    _demand_tensor(got, what, expected.shape, expected)
    if got.shape != expected.shape:
        raise Mismatch(shape_words(tuple(got.shape), tuple(expected.shape), what), "", got, expected)
    if got.dtype != expected.dtype:
        verb = "have" if is_plural(what) else "has"
        summary = f"{what} {verb} dtype {dtype_name(got)}; expected {dtype_name(expected)}"
        raise Mismatch(summary, "", got, expected)
    _demand_same_device(got, what, expected)
    if expected.device.type == "meta":
        return
    if torch.equal(got, expected):  # most are, and the tolerance takes ten times as long
        return
    if not expected.is_floating_point():
        is_right = got == expected
    else:
        absolute, relative = TOLERANCE[expected.dtype]
        if tolerance is not None:
            absolute, relative = tolerance, 0.0
        elif getattr(got, "facts", {}).get("device", "cpu") != "cpu":
            absolute, relative = absolute * CUDA_FACTOR, relative * CUDA_FACTOR
        is_right = close_in_chunks(got, expected, absolute, relative)
    if not bool(is_right.all()):
        raise difference(got, expected, is_right, what) if what else Mismatch(UNSAID)


def _expect_printed(got: Any, expected: Printed, what: str) -> None:
    if not (isinstance(expected.value, torch.Tensor) and isinstance(expected.tolerance, torch.Tensor)):
        return expect(got, expected.value, what)
    if _is_number(got) and not isinstance(got, bool):
        got = _of_numbers([got])[0]
    if isinstance(got, (list, tuple)) and got and all(_is_number(v) and type(v) is not bool for v in got):
        got = _of_numbers(got)
    _demand_tensor(got, what, expected.value.shape, expected.value)
    if got.shape != expected.value.shape:
        sentence = shape_words(tuple(got.shape), tuple(expected.value.shape), what)
        raise Mismatch(sentence, "", got, expected.value)
    _demand_same_device(got, what, expected.value)
    if got.is_complex():
        verb = "have" if is_plural(what) else "has"
        raise Mismatch(f"{what} {verb} dtype {dtype_name(got)}; expected real numbers", "", got, expected.value)
    noise = 2e-6 * expected.value.abs().clamp(min=0.1)
    is_right = close(got.double(), expected.value, expected.tolerance + noise, 0.0)
    if not bool(is_right.all()):
        printed = expected.value if got.is_floating_point() or got.dtype == torch.bool else expected.value.to(got.dtype)
        is_whole = torch.equal(printed.double(), expected.value)
        raise difference(got, printed if is_whole else expected.value, is_right, what)


def _expect_sequence(got: Any, expected: Any, what: str, tolerance: float | None) -> None:
    whole = isinstance(expected, tuple) and all(type(item) is int for item in expected)
    shape = whole and what.startswith(SHAPE)
    if not isinstance(got, (tuple, list)):
        noun = "a shape" if shape else f"{len(expected)} values"
        raise Mismatch(f"{what} is {kind(got)}; expected {noun}", "", got, expected)
    if shape and all(type(item) is int for item in got) and tuple(got) != expected:
        raise Mismatch(shape_words(tuple(got), expected, what), "", got, expected)
    if len(got) != len(expected):
        raise Mismatch(f"{what} has {len(got)} parts; expected {len(expected)}", "", got, expected)
    if whole and all(type(item) is int for item in got) and tuple(got) != expected:
        details = f"expected {_plain(expected)}, got {_plain(tuple(got))}"
        raise Mismatch(f"{what} differs", details, got, expected, what=what)
    for index, (got_item, expected_item) in enumerate(zip(got, expected, strict=True)):
        expect(got_item, expected_item, f"{what}[{index}]" if what else UNSAID, tolerance)


def _expect_dict(got: Any, expected: dict[Any, Any], what: str, tolerance: float | None) -> None:
    if not isinstance(got, dict):
        raise Mismatch(f"{what} is {kind(got)}; expected a dict", "", got, expected)
    missing = [key for key in expected if key not in got]
    surplus = [key for key in got if key not in expected]
    if missing or surplus:
        counts = [f"{len(missing)} missing"] * bool(missing) + [f"{len(surplus)} too many"] * bool(surplus)
        details = f"missing: {_plain(missing)}, too many: {_plain(surplus)}"
        raise Mismatch(f"{what} has other keys than expected: {', '.join(counts)}", details, got, expected)
    for key, expected_item in expected.items():
        try:
            expect(got[key], expected_item, f"an entry of {what}" if what else UNSAID, tolerance)
        except Mismatch as error:  # a key may be a hidden input
            error.details = f"the entry {_plain(key)}\n{error.details}".rstrip()
            raise


def _of_numbers(values: Sequence[Any]) -> torch.Tensor:
    """Python's numbers as a tensor, of whole ones where all are."""
    tensor = torch.tensor(list(map(float, values)), dtype=torch.float64)
    is_whole = all(isinstance(value, int) and abs(value) <= MOST_EXACT_INT for value in values)
    return tensor.long() if is_whole else tensor


def _plain(value: Any) -> str:
    if isinstance(value, (Opaque, torch.Tensor)) or hasattr(value, "class_name"):
        return kind(value)
    try:
        return shorten(repr(value), MAX_TEXT)
    except ValueError:  # Python writes no int of more than 4300 digits
        return kind(value)


def _agree(first: Any, second: Any) -> bool:
    """Whether two answers are alike, or would be but for a few numbers that were rounded to the other side.

    Code that rounds each of its steps to float16 gives one number in some hundreds otherwise in another process, as the
    memory of the tensors is aligned.
    """
    if same(first, second):
        return True
    if isinstance(first, (list, tuple)) and isinstance(second, (list, tuple)):
        return len(first) == len(second) and all(map(_agree, first, second))
    if not (_has_floats(first) and _has_floats(second) and first.shape == second.shape and first.dtype == second.dtype):
        return False
    absolute, relative = TOLERANCE[first.dtype]
    wrong = ~close_in_chunks(first, second, absolute, relative)
    if int(wrong.sum()) * FEW > first.numel():
        return False
    scale = float(second[~wrong].nan_to_num(0.0, 0.0, 0.0).abs().max())
    return bool(close(first[wrong].double(), second[wrong].double(), ROUNDING * scale, 0.0).all())


def _has_floats(value: Any) -> bool:
    is_here = isinstance(value, torch.Tensor) and is_plain(value) and value.device.type == "cpu"
    return is_here and value.dtype in TOLERANCE


def _without_names(first: Call, second: Call) -> tuple[Call, Call]:
    """Parameters that go by other names, as lists: only the check on names looks at the names."""
    first_value, second_value = first.value, second.value
    if isinstance(first_value, dict) and isinstance(second_value, dict) and first_value.keys() != second_value.keys():
        return replace(first, value=list(first_value.values())), replace(second, value=list(second_value.values()))
    return first, second


def _in_words(value: Any) -> Any:
    """An answer with every object of the learner's replaced by its class's name."""
    if isinstance(value, dict):
        return {key: _in_words(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_in_words(item) for item in value]
    return getattr(value, "class_name", value)
