"""A failed check."""

from dataclasses import dataclass
from typing import Any

import torch

from grader.judge.collection import Check
from grader.judge.compare import Mismatch
from grader.judge.proxy import tensors_in
from grader.sandbox.call_results import Call, LearnerError

FEW = 4  # whole numbers


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
    def is_endless(self) -> bool:
        """Whether a call did not end in its time."""
        return isinstance(self.error, LearnerError) and self.error.kind == "timeout"

    @property
    def last_called(self) -> str:
        """The function or class that was called last; "" where none was."""
        return self.calls[-1].function.partition(".")[0] if self.calls else ""

    @property
    def way(self) -> tuple[str, str, str]:
        """The last call's function, what was wanted of it, and the kind of failure: ("f", "output", "Mismatch")."""
        last_call = self.calls[-1] if self.calls else None
        kind = str(self.error.facts.get("type")) if isinstance(self.error, LearnerError) else type(self.error).__name__
        return (last_call.function, last_call.want, kind) if last_call else ("", "", kind)


def is_blank(failure: Failure) -> bool:
    """Whether the wrong answer, or the last one where none is shown, holds floats and none of them is finite."""
    got = failure.error.got if isinstance(failure.error, Mismatch) else None
    answers = [got] if isinstance(got, torch.Tensor) else tensors_in(failure.calls[-1].value) if failure.calls else []
    floats = [
        tensor for tensor in answers if tensor.is_floating_point() and tensor.device.type != "meta" and tensor.numel()
    ]
    return bool(floats) and not any(bool(tensor.isfinite().any()) for tensor in floats)


def says_little(failure: Failure) -> bool:
    """Whether the wrong answer holds no number but NaN, or at most FEW whole ones: many mistakes may answer so."""
    answer = failure.calls[-1].value if failure.calls else None
    tensors, plain = tensors_in(answer), _numbers_in(answer)
    whole = not any(one.is_floating_point() or one.is_complex() for one in tensors)
    whole = whole and all(isinstance(one, int) for one in plain)
    return is_blank(failure) or (whole and 0 < sum(one.numel() for one in tensors) + len(plain) <= FEW)


def is_own(failure: Failure) -> bool:
    """Whether an answer was compared with another one of the learner's, which need not be right."""
    expected = failure.error.expected if isinstance(failure.error, Mismatch) else None
    if not isinstance(expected, torch.Tensor):
        return False
    answers = [tensor for call in failure.calls for tensor in tensors_in(call.value)]
    return any(_address(expected) == _address(answer) for answer in answers if answer.numel())


def _numbers_in(value: Any) -> list[int | float]:
    """All numbers inside nested lists and tuples that stand in no tensor."""
    if isinstance(value, (list, tuple)):
        return [number for item in value for number in _numbers_in(item)]
    return [value] if isinstance(value, (int, float)) else []


def _address(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().data_ptr() if tensor.layout is torch.strided else 0
