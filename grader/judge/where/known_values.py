"""The tensors of the solution's run: which of the learner's are among them, and what may stand in another's place."""

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


@dataclass(frozen=True)
class Step:
    """A tensor of the solution's run, and those that it was computed from."""

    value: torch.Tensor
    inputs: tuple[torch.Tensor, ...]


class Known:
    """The values of a run, and how else they may lie: turned, negated, with dimensions split or joined."""

    def __init__(self, steps: Sequence[Step]):
        self.by_size: dict[int, list[Step]] = defaultdict(list)
        for step in steps:
            for other in _variants(step.value):
                held = self.by_size[other.numel()]
                if not any(_equal(other, one.value) for one in held):
                    held.append(Step(other, step.inputs))

    def holds(self, value: Any) -> bool:
        """Whether a value is one of them."""
        return isinstance(value, torch.Tensor) and any(_equal(value, one.value) for one in self.by_size[value.numel()])

    def instead_of(self, value: Any) -> list[Step]:
        """What may stand in the place of a value: what has as many numbers, else as many dimensions."""
        if not isinstance(value, torch.Tensor):
            return []
        alike = [Step(one.value.reshape(value.shape), one.inputs) for one in self.by_size[value.numel()]]
        others = [one for held in self.by_size.values() for one in held if one.value.ndim == value.ndim]
        return [step for step in alike or others if step.inputs]


class _Seen(TorchFunctionMode):
    """Keeps every tensor that goes into a function of torch or comes out of it."""

    def __init__(self) -> None:
        super().__init__()
        self.steps: list[Step] = []

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        inputs = _kept((*args, *(kwargs or {}).values()))
        result = function(*args, **(kwargs or {}))
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
        elif isinstance(value, torch.Tensor) and value.numel() <= LARGEST:
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
    return seen.steps


def _variants(value: torch.Tensor) -> Iterator[torch.Tensor]:
    yield value
    if value.ndim >= 2:
        yield value.mT
    if value.ndim == 4:
        yield value.transpose(1, 2)
    if value.dtype == torch.bool:
        yield ~value


def _equal(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether the numbers are the same, in their order."""
    return torch.allclose(one.flatten().double(), other.flatten().double(), 1e-4, 1e-6, equal_nan=True)
