"""What the authors of checks use, and nothing else."""

import pytest

from grader.judge.compare import expect, expect_shape, same
from grader.judge.dispatched import Operation, largest_tensor, multiply_adds, work_grows_less_than
from grader.judge.figure import Curves, Figure, Point, Points, Start, in_bytes, packed
from grader.judge.mismatch import Mismatch
from grader.judge.pictures import Drawing
from grader.judge.promises.answers import agrees, refuses
from grader.judge.promises.initial_parameters import expect_drawn, has_parameters
from grader.judge.promises.invariants import keeps_device, keeps_dtype, keeps_inputs, keeps_no_graph
from grader.judge.promises.true_gradients import same_gradients
from grader.judge.randomness import manual_seed
from grader.judge.trained import trained_state

__all__ = [
    "Curves",
    "Drawing",
    "Figure",
    "Mismatch",
    "Operation",
    "Point",
    "Points",
    "Start",
    "agrees",
    "expect",
    "expect_drawn",
    "expect_shape",
    "has_parameters",
    "in_bytes",
    "keeps_device",
    "keeps_dtype",
    "keeps_inputs",
    "keeps_no_graph",
    "largest_tensor",
    "manual_seed",
    "multiply_adds",
    "packed",
    "refuses",
    "same",
    "same_gradients",
    "task",
    "trained_state",
    "work_grows_less_than",
]


def task(number: int, after: str | tuple[str, ...] = ()):
    """Mark a check with its task in the lesson, and with the checks that must pass before it is tried."""
    return pytest.mark.task(number, after=(after,) if isinstance(after, str) else tuple(after))
