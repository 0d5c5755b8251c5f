"""Sentences on a right answer that is of the wrong kind: one of several, in a list, or a Python number."""

import torch

from grader.judge.tolerance import close
from grader.judge.words import is_plain, ordinal

MOST = 64  # parts that are looked at
ROOM = 1e-3  # printed numbers have few digits
JOINS = ((torch.stack, "torch.stack"), (torch.cat, "torch.cat"))
NUMBER = (
    "The value is right, but it is a Python number: give the tensor itself, since .item() and float() cut gradients."
)
JOINED = "The values are right, but they are a {} of tensors: make one tensor of them with {}."
NUMBERS = (
    "The values are right, but they are Python numbers in a list: .item(), float() and tolist() cut gradients, so keep "
    "tensors and join them with torch.stack."
)


def describe(got: object, expected: torch.Tensor) -> str | None:
    """What an answer that is no tensor has of the expected one, or None. It holds for the whole of this answer."""
    if isinstance(got, (int, float)) and not isinstance(got, bool):
        return NUMBER if _are_right([got], expected) else None
    if not isinstance(got, (tuple, list)) or not 0 < len(got) <= MOST:
        return None
    kind = "tuple" if isinstance(got, tuple) else "list"
    parts = [part for part in got if isinstance(part, torch.Tensor) and is_plain(part)]
    if len(parts) < len(got):
        return _of_numbers(got, expected)
    right = [number for number, part in enumerate(parts) if _right(part, expected)]
    if len(right) == 1:
        return f"The right answer is the {ordinal(right[0])} item of a {kind} of {len(parts)}: return that one alone."
    if len({part.dtype for part in parts}) > 1 or any(part.device.type == "meta" for part in parts):
        return None
    if sum(part.numel() for part in parts) != expected.numel():
        return None
    sizes = {part.shape for part in parts}
    for join, name in JOINS:
        if len(sizes) == 1 and (parts[0].ndim or join is torch.stack) and _right(join(parts), expected):
            return JOINED.format(kind, name)
    return None


def _of_numbers(got: tuple[object, ...] | list[object], expected: torch.Tensor) -> str | None:
    rows = [row if isinstance(row, (tuple, list)) else [row] for row in got]
    numbers = [value for row in rows for value in row[:MOST]]
    if not all(type(value) in (int, float) for value in numbers):
        return None
    return NUMBERS if _are_right(numbers, expected) else None


def _are_right(numbers: list[object], expected: torch.Tensor) -> bool:
    """Whether these Python numbers are the values of a tensor, in their order."""
    try:
        return len(numbers) == expected.numel() and _right(
            torch.tensor(numbers, dtype=torch.float64), expected.reshape(-1)
        )
    except (OverflowError, RuntimeError):  # an int that no tensor holds
        return False


def _right(got: torch.Tensor, expected: torch.Tensor) -> bool:
    if got.shape != expected.shape or got.device.type == "meta" or expected.device.type == "meta":
        return False
    if got.is_complex() or expected.is_complex() or got.dtype == torch.bool or expected.dtype == torch.bool:
        return False
    return bool(close(got.detach().double(), expected.double(), ROOM, ROOM).all())
