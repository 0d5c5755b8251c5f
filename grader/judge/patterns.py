"""Sentences on a wrong answer that need no known mistake: its type, its shape, its values."""

import torch

from grader.judge.compare import Mismatch, close
from grader.judge.failure import Failure
from grader.judge.words import UNCALLED, is_plain, number, ordinal
from grader.worker.codec import Opaque

MOST = 64  # parts that are looked at
ROOM = 1e-3  # printed numbers have few digits
JOINS = ((torch.stack, "torch.stack"), (torch.cat, "torch.cat"))
NUMBER = (
    "The value is right, but it is a Python number: return the tensor itself, since .item() and float() cut gradients."
)
JOINED = "The values are right, but they are a {} of tensors: make one tensor of them with {}."
COMMA = "The value is right, but it is in a tuple of its own: a comma at the end of a line, as in `x = y,`, makes one."
NUMBERS = (
    "The values are right, but they are Python numbers in a list: .item(), float() and tolist() cut gradients, so keep "
    "tensors and join them with torch.stack."
)
EVERY = "Every value"
FUNCTION = "A function is returned, not its result: call it, with parentheses after its name."
NOTHING = "Nothing is returned: end the function with return and its result."
SHAPE = "The values are right, but the shape is not: look at squeeze, reshape and keepdim."
OTHER_DTYPES = ("bfloat16", "float64", "float16")  # the first of them in a call is named
MAX_PERMUTED = 64  # rows that are compared in all orders
MAX_LOOKED_AT = 1 << 20  # elements of an answer; larger answers are not examined, to save memory


def describe_answer(got: object, expected: torch.Tensor) -> str | None:
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
    if right and len(got) == 1 and kind == "tuple":
        return COMMA
    if len(right) == 1:
        return f"The right answer is the {ordinal(right[0])} item of a {kind} of {len(parts)}: return only that one."
    if len({part.dtype for part in parts}) > 1 or any(part.device.type == "meta" for part in parts):
        return None
    if sum(part.numel() for part in parts) != expected.numel():
        return None
    sizes = {part.shape for part in parts}
    for join, name in JOINS:
        if len(sizes) == 1 and (parts[0].ndim or join is torch.stack) and _right(join(parts), expected):
            return JOINED.format(kind, name)
    return None


def describe(error: BaseException) -> str | None:
    """One sentence on how `got` is related to `expected`, or None. Each holds for all values of this answer."""
    if not isinstance(error, Mismatch):
        return None
    got, expected = error.got, error.expected
    if got is None and expected is not None:
        return NOTHING
    if isinstance(got, Opaque) and got.description in UNCALLED and expected is not None:
        return FUNCTION
    if not isinstance(expected, torch.Tensor):
        return None
    if not isinstance(got, torch.Tensor):
        return describe_answer(got, expected) if 0 < expected.numel() <= MAX_LOOKED_AT else None
    if not _has_numbers(got) or not _has_numbers(expected):
        return None
    if got.numel() != expected.numel():
        return _one_of_many(got, expected)
    if not 0 < expected.numel() <= MAX_LOOKED_AT:  # a worker may send far more than was asked for
        return None
    if got.dtype != expected.dtype and expected.dtype != torch.float64:
        return None
    are_whole = not expected.is_floating_point()
    got, expected = got.detach().double(), expected.detach().double()
    if got.shape != expected.shape:
        if got.ndim >= 2 and got.mT.shape == expected.shape and _alike(got.mT, expected):
            return "The values are right, but the result is transposed: rows and columns are swapped."
        return SHAPE if _alike(got.reshape(expected.shape), expected) else None
    if _alike(got, expected, 1e-3):
        return None
    if are_whole:  # positions, counts or token ids: no formula, no view made them
        return _permuted(got, expected)
    tests = (_factor, _offset, _permuted, _order)
    return next(filter(None, (test(got, expected) for test in tests)), None)


def of_checks(failure: Failure, failures: dict[str, Failure], passed: set[str]) -> str | None:
    """A sentence that follows from the outcomes of the other checks, or None."""
    wrong_calls = [other.call.text if other.call else "" for other in failures.values()]
    dtypes = {next((dtype for dtype in OTHER_DTYPES if dtype in text), "") for text in wrong_calls}
    if passed and len(dtypes) == 1 and dtypes != {""} and _may_be_of_dtype(failure.error):
        question = "does the code make a tensor without dtype=x.dtype, or convert one?"
        return f"Only the calls in {dtypes.pop()} are wrong: {question}"
    return None


def _may_be_of_dtype(error: BaseException) -> bool:
    """Whether the dtype of the inputs may be to blame: not for a wrong shape, and not for whole numbers, as tokens are.

    A function of tokens may always be asked in one dtype, and then all its failures are in that one.
    """
    got, expected = (error.got, error.expected) if isinstance(error, Mismatch) else (None, None)
    if isinstance(expected, torch.Tensor):
        same_shape = not isinstance(got, torch.Tensor) or got.shape == expected.shape
        return expected.is_floating_point() and same_shape
    return not isinstance(expected, tuple)


def _of_numbers(got: tuple[object, ...] | list[object], expected: torch.Tensor) -> str | None:
    rows = [row if isinstance(row, (tuple, list)) else [row] for row in got]
    numbers = [value for row in rows for value in row[:MOST]]
    if not all(type(value) in (int, float) for value in numbers):
        return None
    return NUMBERS if _are_right(numbers, expected) else None


def _are_right(numbers: list[object], expected: torch.Tensor) -> bool:
    """Whether these Python numbers are the values of a tensor, in their order."""
    try:
        return _right(torch.tensor(numbers, dtype=torch.float64), expected.reshape(-1))
    except (OverflowError, RuntimeError):  # an int that no tensor holds
        return False


def _right(got: torch.Tensor, expected: torch.Tensor) -> bool:
    if got.shape != expected.shape or not _has_numbers(got) or not _has_numbers(expected):
        return False
    return _alike(got.detach().double(), expected.double(), ROOM)


def _one_of_many(got: torch.Tensor, expected: torch.Tensor) -> str | None:
    """The sentence on an answer that is one part of the right one."""
    if got.shape != expected.shape[1:] or not 1 < got.numel() <= expected.numel() <= MAX_LOOKED_AT:
        return None
    right = [number for number, part in enumerate(expected.double()) if _alike(got.detach().double(), part)]
    if not right:
        return None
    what = "row" if expected.ndim == 2 else "part along dim 0"
    which = {0: "the first ", len(expected) - 1: "the last "}.get(right[-1], "one ") if len(right) == 1 else "one "
    return f"Only {which}{what} of the right answer is returned: collect all of them in one tensor."


def _has_numbers(tensor: torch.Tensor) -> bool:
    """Whether its values are real numbers that can be computed with as they are."""
    return is_plain(tensor) and tensor.device.type != "meta" and tensor.dtype != torch.bool and not tensor.is_complex()


def _alike(got: torch.Tensor, expected: torch.Tensor, room: float = 1e-4) -> bool:
    return bool(close(got, expected, room, room).all())


def _factor(got: torch.Tensor, expected: torch.Tensor) -> str | None:
    if not (torch.isfinite(got).all() and torch.isfinite(expected).all()) or not (expected.abs() > 1e-3).any():
        return None
    factor = float((got * expected).sum() / (expected * expected).sum())
    if expected.numel() < 2 or abs(factor) < 1e-6 or not _alike(got, expected * factor):
        return None
    return f"{EVERY} is the right one times {factor:.4g}."


def _offset(got: torch.Tensor, expected: torch.Tensor) -> str | None:
    difference = (got - expected).flatten()
    if not torch.isfinite(difference).all() or expected.numel() < 3:
        return None
    mean = float(difference.mean())
    if abs(mean) > 1e-3 and _alike(difference, torch.full_like(difference, mean)):
        return f"{EVERY} is the right one {'plus' if mean > 0 else 'minus'} {number(abs(mean))}."
    return None


def _permuted(got: torch.Tensor, expected: torch.Tensor) -> str | None:
    for dim, name in ((-2, "rows"), (-1, "columns"), (1, "heads")):
        if got.ndim < 2 or (dim == 1 and got.ndim != 4) or not 1 < got.shape[dim] <= MAX_PERMUTED:
            continue
        if not torch.isfinite(got).all() or not torch.isfinite(expected).all():
            return None
        got_slices, expected_slices = got.movedim(dim, 0).flatten(1), expected.movedim(dim, 0).flatten(1)
        if _alike(got_slices.flip(0), expected_slices):
            return f"The {name} are right, but in the opposite order."
        matches = torch.cdist(got_slices, expected_slices, p=torch.inf) < 1e-4
        if bool((matches.sum(0) == 1).all() and (matches.sum(1) == 1).all()):
            return f"The {name} are right, but in another order."
    return None


def _order(got: torch.Tensor, expected: torch.Tensor) -> str | None:
    """The right numbers in wrong places: a view where a transpose was needed, or the reverse."""
    if got.ndim < 2 or expected.numel() < 4 or len(torch.unique(expected)) < expected.numel() // 2:
        return None
    if _alike(got.flatten().sort().values, expected.flatten().sort().values):
        return "The right numbers are in the wrong places: look at view, reshape and transpose."
    return None
