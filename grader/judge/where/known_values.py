"""The tensors of the solution's run: which of the learner's are among them, and what may stand in another's place."""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from grader.catalog import paths
from grader.judge.examiner import Examiner
from grader.judge.where.probes import Probe
from grader.sandbox.local import Local
from grader.worker import protocol

MOST = 300  # tensors of one run
LARGEST = 4096  # numbers in one of them
MOST_DIVISORS = 2
PLAIN = (torch.Tensor, torch.nn.Parameter)  # a tensor on the device meta has no values
DIVIDING = (torch.div, torch.true_divide, torch.Tensor.div, torch.Tensor.true_divide, torch.Tensor.__truediv__)
MULTIPLYING = (torch.mul, torch.Tensor.mul, torch.Tensor.__mul__, torch.Tensor.__rmul__)


@dataclass(frozen=True)
class Step:
    """A tensor of the solution's run, and those that it was computed from."""

    value: torch.Tensor
    inputs: tuple[torch.Tensor, ...]


class Known:
    """The values of a run, and how else they may lie: turned, negated, with dimensions split or joined."""

    def __init__(self, steps: Sequence[Step]):
        self.by_size: dict[int, list[tuple[_Flat, Step]]] = defaultdict(list)
        for step in steps:
            for other in _variants(step.value):
                held, flat = self.by_size[other.numel()], _Flat(other)
                if not any(flat.equals(one) for one, _ in held):
                    held.append((flat, Step(other, step.inputs)))

    def holds(self, value: Any) -> bool:
        """Whether a value is one of them."""
        if not isinstance(value, torch.Tensor):
            return False
        flat = _Flat(value)
        return any(flat.equals(one) for one, _ in self.by_size[value.numel()])

    def instead_of(self, value: Any) -> list[Step]:
        """What may stand in the place of a value: what has as many numbers, else as many dimensions."""
        if not isinstance(value, torch.Tensor):
            return []
        alike = [Step(one.value.reshape(value.shape), one.inputs) for _, one in self.by_size[value.numel()]]
        others = [one for held in self.by_size.values() for _, one in held if one.value.ndim == value.ndim]
        return [step for step in alike or others if step.inputs]


class _Flat:
    """The numbers of a tensor in their order, and its device. mark: a sum that differs for most others."""

    def __init__(self, value: torch.Tensor):
        self.device, self.numbers = value.device, value.cpu().flatten().double()
        finite = self.numbers.nan_to_num(0.0, 0.0, 0.0)
        self.mark = float(finite @ torch.linspace(1, 2, len(finite), dtype=torch.float64))

    def equals(self, other: "_Flat") -> bool:
        if self.device != other.device:
            return False
        if abs(self.mark - other.mark) > 1e-3 * (abs(self.mark) + abs(other.mark)) + 1e-4 * len(self.numbers):
            return False
        return torch.allclose(self.numbers, other.numbers, 1e-4, 1e-6, equal_nan=True)


class _Seen(TorchFunctionMode):
    """Keeps every tensor that goes into a function of torch or comes out of it."""

    def __init__(self) -> None:
        super().__init__()
        self.steps: list[Step] = []
        self.divisors: list[float] = []  # by which tensors were divided

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        inputs = _kept((*args, *(kwargs or {}).values()))
        result = function(*args, **(kwargs or {}))
        divisor = 1 / number if (number := _number(args)) and function in MULTIPLYING else number
        if function in (*DIVIDING, *MULTIPLYING) and divisor and divisor not in self.divisors:
            self.divisors.append(divisor)
        if len(self.steps) < MOST:
            self.steps += [Step(value, ()) for value in inputs]
            self.steps += [Step(value, inputs) for value in _kept((result,))]
        return result


def _kept(values: Any) -> tuple[torch.Tensor, ...]:
    """Copies of the tensors among them that are not large."""
    found: list[torch.Tensor] = []
    for value in values:
        if isinstance(value, (tuple, list)):
            found += _kept(value)
        elif type(value) in PLAIN and value.device.type == "cpu" and value.numel() <= LARGEST:
            with torch._C.DisableTorchFunction():
                found.append(value.detach().clone())
    return tuple(found)


def solution_steps(examiner: Examiner, probe: Probe) -> list[Step]:
    """What the solution computes for the answer to a probe."""
    solution = Local.load(paths.solution(examiner.exercise.folder), examiner.exercise.slug)
    *before, last = (protocol.decode_request(body) for body in probe.requests)
    for request in before:
        solution.answer(*request)
    state, seen = torch.get_rng_state(), _Seen()
    try:
        with seen:
            solution.executor.handle(*last)
    finally:
        torch.set_rng_state(state)
    return [*seen.steps, *scaled(seen.steps, seen.divisors[:MOST_DIVISORS])]


def scaled(steps: Sequence[Step], divisors: Sequence[float]) -> list[Step]:
    """The same values divided, as a right answer may divide earlier or later."""
    numbers = [one for one in steps if one.value.is_floating_point() and one.value.ndim > 1 and one.inputs]
    return [Step(one.value / divisor, one.inputs) for divisor in divisors for one in numbers]


def _number(arguments: Sequence[Any]) -> float:
    """The one number that a tensor is divided by or multiplied with; 0 where that is no number, or 1."""
    last = arguments[-1] if len(arguments) == 2 else None
    if isinstance(last, torch.Tensor) and last.numel() == 1 and last.ndim == 0:
        with torch._C.DisableTorchFunction():
            last = last.item()
    number = float(last) if isinstance(last, (int, float)) and not isinstance(last, bool) else 0.0
    return 0.0 if number == 1 or not math.isfinite(number) else number


def _variants(value: torch.Tensor) -> Iterator[torch.Tensor]:
    yield value
    if value.ndim >= 2:
        yield value.mT
    if value.ndim == 3:
        yield from (value.permute(1, 0, 2), value.permute(1, 2, 0), value.permute(2, 0, 1))
    if value.ndim == 4:
        yield value.transpose(1, 2)
    if value.dtype == torch.bool:
        yield ~value
