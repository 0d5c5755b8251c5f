"""Which requests of a check hold a number that an earlier request, not answered yet, asks for.

A check may compute such a number by itself, as the cache that a call before it would have given. Nothing flowed there
that `taint.py` could see; here the numbers themselves are compared.
"""

import torch
from torch.utils._python_dispatch import _disable_current_modes

from grader.worker.codec import Decoder
from grader.worker.wire import RawTensor

ROUNDING = 1e-6  # relative, between a number in float32 and the same one computed in another way


class UnansweredNumbers:
    """The numbers of the answers that a worker has yet to give, while the requests of a check are recorded."""

    def __init__(self) -> None:
        self.unanswered = self.sent = torch.empty(0, dtype=torch.float64)  # both sorted

    def told_by(self, tensors: list[RawTensor]) -> bool:
        """Whether the next request, with these tensors, has an unanswered number that no earlier request told."""
        with _disable_current_modes():
            numbers = _numbers(tensors)
            told = _close_to_one_of(self.unanswered, numbers) & ~_close_to_one_of(self.sent, numbers)
            self.sent = torch.cat([self.sent, numbers]).sort().values
        return bool(told.any())

    def add(self, tensors: list[RawTensor]) -> None:
        """The request that these tensors answer is sent."""
        with _disable_current_modes():
            self.unanswered = torch.cat([self.unanswered, _numbers(tensors)]).sort().values

    def clear(self) -> None:
        """All requests so far are answered."""
        self.unanswered = self.unanswered[:0]


def _numbers(tensors: list[RawTensor]) -> torch.Tensor:
    """The numbers of tensors in float64, (n,), but those of few digits: they stand in many places by chance."""
    parts = [Decoder([tensor]).tensor(0, {}).double().flatten() for tensor in tensors]
    numbers = torch.cat(parts) if parts else torch.empty(0, dtype=torch.float64)
    return numbers[numbers.isfinite() & (numbers != numbers.bfloat16())]


def _close_to_one_of(choices: torch.Tensor, numbers: torch.Tensor) -> torch.Tensor:
    """Which of the numbers, (n,), equal one of the sorted choices but for rounding: a bool tensor, (n,)."""
    if not choices.numel():
        return torch.zeros_like(numbers, dtype=torch.bool)
    place = torch.searchsorted(choices, numbers)
    neighbours = [choices[(place - step).clamp(0, choices.numel() - 1)] for step in (0, 1)]
    return torch.stack([(one - numbers).abs() <= ROUNDING * numbers.abs() for one in neighbours]).any(0)
