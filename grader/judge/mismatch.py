"""What differs between an answer and the expected one, in words."""

import math
from dataclasses import dataclass

import torch

from grader.judge.tolerance import CHUNK, TOLERANCE, close_in_chunks
from grader.judge.words import number, values


@dataclass
class Mismatch(AssertionError):
    """An answer that is not the expected one. `summary` is safe to show to anybody; `details` holds values."""

    summary: str
    details: str = ""
    got: object = None
    expected: object = None

    def __str__(self) -> str:
        return self.summary


def difference(got: torch.Tensor, expected: torch.Tensor, right: torch.Tensor, what: str) -> Mismatch:
    """The Mismatch of two tensors of one shape. right: where they agree."""
    wrong = ~right
    first = _index(int(wrong.reshape(-1).view(torch.uint8).argmax()), wrong.shape)
    total, count = expected.numel(), int(wrong.sum())
    mine, theirs = got[first].item(), expected[first].item()
    not_finite = _not_finite(got, expected)
    share = f"{count} of {total} values differ" if total > 1 else "the value differs"
    summary = f"{what} is wrong: {not_finite or share}"
    place = f" at [{', '.join(map(str, first))}]" if first else ""
    details = f"expected {values(expected, first)}\ngot      {values(got, first)}\nfirst difference{place}: "
    details += f"got {number(mine)}, expected {number(theirs)}"
    if isinstance(mine, float) and math.isfinite(mine) and math.isfinite(theirs):
        details += f", off by {number(abs(mine - theirs))}"
    return Mismatch(summary, details + f" ({share})", got, expected)


def _index(number: int, shape: torch.Size) -> tuple[int, ...]:
    """The indices of the element with this number in row-major order."""
    place = []
    for size in reversed(shape):
        number, inside = divmod(number, size)
        place.append(inside)
    return tuple(reversed(place))


def _not_finite(got: torch.Tensor, expected: torch.Tensor) -> str:
    """How many values are NaN or infinite where the expected ones are not; "" where none is."""
    if got.dtype not in TOLERANCE:
        return ""
    for name, test in (("NaN", torch.isnan), ("inf", torch.isinf)):
        count = int((test(got) & ~test(expected.to(got.dtype))).sum())
        if count:
            return f"{count} of {got.numel()} values {'is' if count == 1 else 'are'} {name}"
    return ""


def guess_from_values(got: torch.Tensor, expected: torch.Tensor) -> str:
    """What probably went wrong, from the values of a tensor whose shape is wrong; "" where the values do not tell.

    A tensor of one number is no evidence.
    """
    if got.dtype != expected.dtype or got.device != expected.device or not 1 < got.numel() <= CHUNK:
        return ""
    if expected.numel() > CHUNK or got.device.type == "meta":
        return ""
    room = TOLERANCE.get(expected.dtype, (0.0, 0.0))
    if got.ndim >= 2 and got.mT.shape == expected.shape and bool(close_in_chunks(got.mT, expected, *room).all()):
        return "the result is transposed"
    parts = expected if expected.ndim == got.ndim + 1 and got.shape == expected.shape[1:] else ()
    return "the batch dimension is lost" if any(bool(close_in_chunks(got, part, *room).all()) for part in parts) else ""
