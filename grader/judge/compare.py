"""Compares an answer with the expected one: type, dtype, shape and values."""

import math
from typing import Any

import torch

from grader.catalog.documented import Printed
from grader.judge.mismatch import Mismatch, difference, guess_from_values
from grader.judge.tolerance import CHUNK, CUDA_FACTOR, TOLERANCE, close, close_in_chunks
from grader.judge.words import dtype_name, is_plain, kind, ordinal, shape_words
from grader.worker.codec import Opaque

SHAPE = "the shape"  # of something
LARGEST = 1 << 64  # int that is compared
UNSAID = ""  # what is compared, where nobody reads the words of a Mismatch: then none are made


def expect(got: Any, expected: Any, what: str = "the result", tolerance: float | None = None) -> None:
    """Raise Mismatch unless `got` is `expected`: type, dtype, shape and values.

    expected may be a tensor, a number, text, a list, tuple or dict of these, or a `Printed`. A tuple of ints is told as
    a shape where `what` begins with SHAPE.
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
            raise Mismatch(summary, f"expected {expected!r}, got {_plain(got)}", got, expected)
        return None
    if isinstance(got, torch.Tensor) and got.ndim == 0 and got.dtype != torch.bool and got.device.type != "meta":
        got = got.item()
    if not _is_number(got):
        raise Mismatch(f"{what} is {kind(got)}; expected a number", "", got, expected)
    room = tolerance if tolerance is not None else 1e-5 * max(1.0, abs(expected) * isinstance(expected, float))
    if not (got == expected or (math.isfinite(expected) and abs(got - expected) <= room)):
        raise Mismatch(f"{what} differs", f"expected {expected:.6g}, got {got:.6g}", got, expected)
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


def _demand_tensor(got: Any, what: str, shape: Any, expected: torch.Tensor | None = None) -> None:
    if not isinstance(got, torch.Tensor) or not is_plain(got):
        raise Mismatch(f"{what} is {kind(got)}; expected a tensor of shape {tuple(shape)}", "", got, expected)


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
        sentence = shape_words(tuple(got.shape), tuple(expected.shape), what, guess_from_values(got, expected))
        raise Mismatch(sentence, "", got, expected)
    if got.dtype != expected.dtype:
        summary = f"{what} has dtype {dtype_name(got)}; expected {dtype_name(expected)}"
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
        got = torch.tensor(float(got), dtype=torch.float64)
    if isinstance(got, (list, tuple)) and got and all(_is_number(v) and type(v) is not bool for v in got):
        got = torch.tensor(list(map(float, got)), dtype=torch.float64)
    _demand_tensor(got, what, expected.value.shape, expected.value)
    if got.shape != expected.value.shape:
        guess = ""
        if (
            got.is_floating_point()
            and got.numel() <= CHUNK
            and got.device.type != "meta"
            and expected.tolerance.numel()
        ):
            guess = guess_from_values(got.double(), expected.value.double(), float(expected.tolerance.max()))
        sentence = shape_words(tuple(got.shape), tuple(expected.value.shape), what, guess)
        raise Mismatch(sentence, "", got, expected.value)
    _demand_same_device(got, what, expected.value)
    if got.is_complex():
        raise Mismatch(f"{what} has dtype {dtype_name(got)}; expected real numbers", "", got, expected.value)
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
        raise Mismatch(f"{what} differs", f"expected {_plain(expected)}, got {_plain(tuple(got))}", got, expected)
    for index, (got_item, expected_item) in enumerate(zip(got, expected, strict=True)):
        expect(got_item, expected_item, f"the {ordinal(index)} part of {what}" if what else UNSAID, tolerance)


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


def _plain(value: Any) -> str:
    if isinstance(value, (Opaque, torch.Tensor)) or hasattr(value, "class_name"):
        return kind(value)
    try:
        return repr(value)[:200]
    except ValueError:  # Python writes no int of more than 4300 digits
        return kind(value)
