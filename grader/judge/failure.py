"""A failed check."""

import re
from dataclasses import dataclass
from functools import cached_property

import torch

from grader.judge.collection import Check
from grader.judge.compare import FORBIDDEN, TOLERANCE, Mismatch, close
from grader.judge.words import is_plain
from grader.sandbox.call_results import Call, LearnerError
from grader.worker.fake_device import tensors_in

OTHER_DTYPE = re.compile(r"\b(float64|bfloat16|float16)\b")  # in the words of a call
OTHER_DEVICE = re.compile(r"\bdevices?\b")  # in those of an error


@dataclass(frozen=True)
class Failure:
    """A check that failed, the error, and the calls that led to it."""

    check: Check
    error: BaseException
    calls: list[Call]

    @property
    def is_not_started(self) -> bool:
        """Whether the learner's code still raises NotImplementedError."""
        return isinstance(self.error, LearnerError) and self.error.is_not_started

    @property
    def is_there(self) -> bool:
        """Whether the learner's file defines what the check asks for, and more of it than the stub."""
        is_missing = isinstance(self.error, LearnerError) and self.error.kind == "missing"
        return not is_missing and not self.is_not_started

    @property
    def raised(self) -> bool:
        """Whether it is an error of the learner's code, and not a wrong answer."""
        return isinstance(self.error, LearnerError)

    @property
    def forbidden_line(self) -> int:
        """The line of a forbidden use, which the failure itself names; 0 where it names none.

        The line that raises an exception does not count: the mistake is often on an earlier one.
        """
        if not isinstance(self.error, Mismatch) or not self.error.summary.startswith(FORBIDDEN):
            return 0
        number = self.error.summary.removeprefix(FORBIDDEN).partition(" ")[0]
        return int(number) if number.isdigit() else 0

    @property
    def uses_at(self) -> int:
        """The line that uses a forbidden function; 0 where the failure names none."""
        return self.forbidden_line if " uses " in str(self.error) else 0

    @cached_property
    def call(self) -> Call | None:
        """The call that gave the wrong answer, where it is known; else the last one. None where none was made."""
        got = getattr(self.error, "got", None)
        if isinstance(got, torch.Tensor):
            for call in reversed(self.calls):
                if any(shares_memory(got, tensor) for tensor in tensors_in(call.value)):
                    return call
        return self.calls[-1] if self.calls else None

    @property
    def last_called(self) -> str:
        """The function or class that gave the wrong answer, or was called last; "" where none was."""
        return self.call.function.partition(".")[0] if self.call else ""

    @property
    def way(self) -> tuple[str, str, str]:
        """The function that was called, what was wanted of it, and the kind of failure: ("f", "output", "Mismatch")."""
        kind = str(self.error.facts.get("type")) if isinstance(self.error, LearnerError) else type(self.error).__name__
        return (self.call.function, self.call.want, kind) if self.call else ("", "", kind)


def is_blank(failure: Failure) -> bool:
    """Whether the wrong answer, or the last one where none is shown, holds floats and no wrong one is finite."""
    got, expected = (getattr(failure.error, name, None) for name in ("got", "expected"))
    pair = [value for value in (got, expected) if isinstance(value, torch.Tensor) and value.device.type != "meta"]
    if len(pair) == 2 and pair[0].shape == pair[1].shape and {pair[0].dtype, pair[1].dtype} <= TOLERANCE.keys():
        absolute, relative = TOLERANCE[pair[1].dtype]
        got = pair[0][~close(pair[0], pair[1], absolute, relative)]
    answers = [got] if isinstance(got, torch.Tensor) else tensors_in(failure.calls[-1].value) if failure.calls else []
    floats = [one for one in answers if one.is_floating_point() and one.device.type != "meta" and one.numel()]
    return bool(floats) and not any(bool(tensor.isfinite().any()) for tensor in floats)


def finds_no_number_wrong(failure: Failure) -> bool:
    """Whether the last call answered with numbers, and something else about it is wrong, as how much was computed."""
    error = failure.error
    if not isinstance(error, Mismatch) or (error.got, error.expected) != (None, None):
        return False
    return bool(failure.calls and tensors_in(failure.calls[-1].value))


def is_of_dtype(failure: Failure) -> bool:
    """Whether something was asked in another dtype than float32, or on another device."""
    asked = failure.call.text if failure.call else ""
    return bool(OTHER_DTYPE.search(asked) or OTHER_DEVICE.search(str(failure.error)))


def is_own(failure: Failure) -> bool:
    """Whether an answer was compared with another one of the learner's, which need not be right."""
    expected = failure.error.expected if isinstance(failure.error, Mismatch) else None
    if not isinstance(expected, torch.Tensor):
        return False
    answers = [tensor for call in failure.calls for tensor in tensors_in(call.value)]
    return any(shares_memory(answer, expected) for answer in answers)


def shares_memory(got: torch.Tensor, tensor: torch.Tensor) -> bool:
    """Whether the first tensor is the second one, or a part of it."""
    if got is tensor:
        return True
    if not (is_plain(got) and is_plain(tensor)) or "meta" in (got.device.type, tensor.device.type) or not got.numel():
        return False
    return got.untyped_storage().data_ptr() == tensor.untyped_storage().data_ptr()
