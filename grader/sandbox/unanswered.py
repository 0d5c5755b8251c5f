"""Finds the requests of a check that hold a number which the worker has yet to compute for an earlier request.

A check may compute such a number by itself, for example a cache that an earlier call returns too. It does not come from
a reply, so taint.py cannot track it. Therefore the numbers themselves are compared here.
"""

import torch
from torch.utils._python_dispatch import _disable_current_modes

from grader.worker.codec import Decoder
from grader.worker.wire import RawTensor

ROUNDING = 1e-6  # relative, between a number in float32 and the same one computed in another way


class UnansweredNumbers:
    """The numbers in the replies that a worker has yet to send, while the requests of a check are recorded."""

    def __init__(self) -> None:
        self.unanswered = self.sent = torch.empty(0, dtype=torch.float64)  # both sorted

    def disclosed_by(self, tensors: list[RawTensor]) -> bool:
        """Whether the next request, with these tensors, has an unanswered number that no earlier request contained."""
        with _disable_current_modes():
            numbers = _numbers(tensors)
            disclosed = _close_to_one_of(self.unanswered, numbers) & ~_close_to_one_of(self.sent, numbers)
            self.sent = torch.cat([self.sent, numbers]).sort().values
        return bool(disclosed.any())

    def add(self, tensors: list[RawTensor]) -> None:
        """Add the tensors of the expected reply to a request that is sent now."""
        with _disable_current_modes():
            self.unanswered = torch.cat([self.unanswered, _numbers(tensors)]).sort().values

    def clear(self) -> None:
        """Forget all numbers, because all requests so far have been answered."""
        self.unanswered = self.unanswered[:0]


def _numbers(tensors: list[RawTensor]) -> torch.Tensor:
    """The numbers of tensors in float64, (n,), without those of few digits, which may be equal by chance."""
    flat_tensors = [Decoder([tensor]).tensor(0, {}).double().flatten() for tensor in tensors]
    numbers = torch.cat(flat_tensors) if flat_tensors else torch.empty(0, dtype=torch.float64)
    return numbers[numbers.isfinite() & (numbers != numbers.bfloat16())]


def _close_to_one_of(choices: torch.Tensor, numbers: torch.Tensor) -> torch.Tensor:
    """For each number, (n,), whether it equals one of the sorted choices up to rounding: a bool tensor, (n,)."""
    if not choices.numel():
        return torch.zeros_like(numbers, dtype=torch.bool)
    index = torch.searchsorted(choices, numbers)
    neighbours = [choices[(index - step).clamp(0, choices.numel() - 1)] for step in (0, 1)]
    return torch.stack([(choice - numbers).abs() <= ROUNDING * numbers.abs() for choice in neighbours]).any(0)
