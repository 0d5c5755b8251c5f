"""The difference between an answer and the expected one, in words."""

import math
from dataclasses import dataclass

import torch

from grader.judge.tolerance import CHUNK, TOLERANCE, close_in_chunks
from grader.judge.words import is_plural, number, values

FORBIDDEN = "line "  # how the summary begins that names the line of a forbidden use


@dataclass
class Mismatch(AssertionError):
    """An answer that is not the expected one.

    `summary` is safe to show to anybody; `details` holds values; `cause`, where given, says what was done for certain.
    """

    summary: str
    details: str = ""
    got: object = None
    expected: object = None
    cause: str = ""

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
    details += f"got {number(got_value)}, expected {number(expected_value)}"
    if isinstance(got_value, float) and math.isfinite(got_value) and math.isfinite(expected_value):
        details += f", off by {number(abs(got_value - expected_value))}"
    return Mismatch(summary, details + f" ({share})", got, expected)


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


def guess_from_values(got: torch.Tensor, expected: torch.Tensor, tolerance: float | None = None) -> str:
    """The probable cause of a wrong shape, found from the tensor's values; "" where the values do not tell.

    A tensor of one number is no evidence. tolerance: of printed numbers, absolute.
    """
    if got.dtype != expected.dtype or got.device != expected.device or not 1 < got.numel() <= CHUNK:
        return ""
    if expected.numel() > CHUNK or got.device.type == "meta":
        return ""
    room = TOLERANCE.get(expected.dtype, (0.0, 0.0)) if tolerance is None else (tolerance, 0.0)
    if got.ndim >= 2 and got.mT.shape == expected.shape and bool(close_in_chunks(got.mT, expected, *room).all()):
        return "the result is transposed"
    parts = expected if expected.ndim == got.ndim + 1 and got.shape == expected.shape[1:] else ()
    for index, part in enumerate(parts):
        if bool(close_in_chunks(got, part, *room).all()):
            part_name = "row" if expected.ndim == 2 else "part"
            return f"only the {part_name} at index {index} is there"
    return ""
