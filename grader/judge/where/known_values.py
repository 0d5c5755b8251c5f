"""The tensors of the solution's run: which of the learner's values are among them, and which may replace a value."""

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

MAX_TENSORS = 300  # of one run
MAX_ELEMENTS = 4096  # of one tensor
MAX_DIVISORS = 2
PLAIN = (torch.Tensor, torch.nn.Parameter)  # a tensor on the device meta has no values
DIVIDING = (torch.div, torch.true_divide, torch.Tensor.div, torch.Tensor.true_divide, torch.Tensor.__truediv__)
MULTIPLYING = (torch.mul, torch.Tensor.mul, torch.Tensor.__mul__, torch.Tensor.__rmul__)


@dataclass(frozen=True)
class Step:
    """A tensor of the solution's run, and the tensors from which it was computed."""

    value: torch.Tensor
    inputs: tuple[torch.Tensor, ...]


class KnownValues:
    """The values of a run, also transposed, negated, and with dimensions split or joined."""

    def __init__(self, steps: Sequence[Step]):
        self.by_size: dict[int, list[tuple[_Flat, Step]]] = defaultdict(list)
        for step in steps:
            for variant in _variants(step.value):
                same_size, flat = self.by_size[variant.numel()], _Flat(variant)
                if not any(flat.equals(known_flat) for known_flat, _ in same_size):
                    same_size.append((flat, Step(variant, step.inputs)))

    def holds(self, value: Any) -> bool:
        """Whether a value is one of them."""
        if not isinstance(value, torch.Tensor):
            return False
        flat = _Flat(value)
        return any(flat.equals(known_flat) for known_flat, _ in self.by_size[value.numel()])

    def replacements_of(self, value: Any) -> list[Step]:
        """The steps whose values may replace a value: those with as many elements, else with as many dimensions."""
        if not isinstance(value, torch.Tensor):
            return []
        same_size = [Step(entry.value.reshape(value.shape), entry.inputs) for _, entry in self.by_size[value.numel()]]
        same_ndim = [
            entry for entries in self.by_size.values() for _, entry in entries if entry.value.ndim == value.ndim
        ]
        return [step for step in same_size or same_ndim if step.inputs]


class _Flat:
    """The elements of a tensor in order, and its device. checksum: a weighted sum, which differs for most others."""

    def __init__(self, value: torch.Tensor):
        self.device, self.numbers = value.device, value.cpu().flatten().double()
        finite = self.numbers.nan_to_num(0.0, 0.0, 0.0)
        self.checksum = float(finite @ torch.linspace(1, 2, len(finite), dtype=torch.float64))

    def equals(self, other: "_Flat") -> bool:
        if self.device != other.device:
            return False
        if abs(self.checksum - other.checksum) > 1e-3 * (abs(self.checksum) + abs(other.checksum)) + 1e-4 * len(
            self.numbers
        ):
            return False
        return torch.allclose(self.numbers, other.numbers, 1e-4, 1e-6, equal_nan=True)


class _TensorRecorder(TorchFunctionMode):
    """Keeps every tensor that goes into a function of torch or comes out of it."""

    def __init__(self) -> None:
        super().__init__()
        self.steps: list[Step] = []
        self.divisors: list[float] = []  # by which tensors were divided

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        inputs = _small_copies((*args, *(kwargs or {}).values()))
        result = function(*args, **(kwargs or {}))
        divisor = 1 / number if (number := _number(args)) and function in MULTIPLYING else number
        if function in (*DIVIDING, *MULTIPLYING) and divisor and divisor not in self.divisors:
            self.divisors.append(divisor)
        if len(self.steps) < MAX_TENSORS:
            self.steps += [Step(value, ()) for value in inputs]
            self.steps += [Step(value, inputs) for value in _small_copies((result,))]
        return result


def _small_copies(values: Any) -> tuple[torch.Tensor, ...]:
    """Copies of those tensors among these values that are not too large."""
    copies: list[torch.Tensor] = []
    for value in values:
        if isinstance(value, (tuple, list)):
            copies += _small_copies(value)
        elif type(value) in PLAIN and value.device.type == "cpu" and value.numel() <= MAX_ELEMENTS:
            with torch._C.DisableTorchFunction():
                copies.append(value.detach().clone())
    return tuple(copies)


def solution_steps(examiner: Examiner, probe: Probe) -> list[Step]:
    """What the solution computes for the answer to a probe."""
    solution = Local.load(paths.solution(examiner.exercise.folder), examiner.exercise.slug)
    *earlier_requests, last_request = (protocol.decode_request(body) for body in probe.requests)
    for request in earlier_requests:
        solution.answer(*request)
    state, recorder = torch.get_rng_state(), _TensorRecorder()
    try:
        with recorder:
            solution.executor.handle(*last_request)
    finally:
        torch.set_rng_state(state)
    return [*recorder.steps, *scaled(recorder.steps, recorder.divisors[:MAX_DIVISORS])]


def scaled(steps: Sequence[Step], divisors: Sequence[float]) -> list[Step]:
    """The same values divided by each divisor, since right code may divide earlier or later than the solution."""
    computed_steps = [step for step in steps if step.value.is_floating_point() and step.value.ndim > 1 and step.inputs]
    return [Step(step.value / divisor, step.inputs) for divisor in divisors for step in computed_steps]


def _number(arguments: Sequence[Any]) -> float:
    """The number by which a tensor is divided or multiplied; 0 where it is 1 or no single number."""
    operand = arguments[-1] if len(arguments) == 2 else None
    if isinstance(operand, torch.Tensor) and operand.numel() == 1 and operand.ndim == 0:
        with torch._C.DisableTorchFunction():
            operand = operand.item()
    number = float(operand) if isinstance(operand, (int, float)) and not isinstance(operand, bool) else 0.0
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
