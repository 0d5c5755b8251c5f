"""What the authors of checks use, and nothing else."""

from collections.abc import Mapping

import pytest

from grader.judge.compare import LARGE_TOLERANCE, Mismatch, expect, expect_shape, same
from grader.judge.dispatched import Operation, largest_tensor, multiply_adds, work_grows_less_than
from grader.judge.figure import Figure, Start, pack
from grader.judge.inputs import manual_seed, trained_state
from grader.judge.launched import (
    Launched,
    computes_in_kernels,
    gives,
    launches_once,
    loads_at_most,
    stays_inside,
)
from grader.judge.pictures import Drawing
from grader.judge.promises import (
    agrees,
    draws_as_often,
    expect_drawn,
    has_own_memory,
    has_parameters,
    held_tensor,
    keeps_device,
    keeps_dtype,
    keeps_inputs,
    keeps_no_graph,
    keeps_parameters,
    learns_alike,
    refuses,
    same_gradients,
)
from grader.judge.proxy import on_cpu

__all__ = [
    "LARGE_TOLERANCE",
    "Drawing",
    "Figure",
    "Launched",
    "Mismatch",
    "Operation",
    "Start",
    "agrees",
    "computes_in_kernels",
    "draws_as_often",
    "expect",
    "expect_drawn",
    "expect_shape",
    "gives",
    "has_own_memory",
    "has_parameters",
    "held_tensor",
    "keeps_device",
    "keeps_dtype",
    "keeps_inputs",
    "keeps_no_graph",
    "keeps_parameters",
    "largest_tensor",
    "launches_once",
    "learns_alike",
    "loads_at_most",
    "manual_seed",
    "multiply_adds",
    "on_cpu",
    "pack",
    "refuses",
    "same",
    "same_gradients",
    "stays_inside",
    "task",
    "trained_state",
    "work_grows_less_than",
]


def task(
    number: int, after: str | tuple[str, ...] = (), each: Mapping[str, str | tuple[str, ...]] | None = None
) -> pytest.MarkDecorator:
    """Mark a check with its task in the lesson, and with the checks that must pass before it is tried.

    each: for a promise of several functions or classes, by name the checks that the one builds on. Where these fail,
    the solution's stands in for it, and the promise is checked for all others, for their share of its points.
    """
    named = {name: _names(checks) for name, checks in (each or {}).items()}
    return pytest.mark.task(number, after=_names(after), each=named)


def _names(checks: str | tuple[str, ...]) -> tuple[str, ...]:
    return (checks,) if isinstance(checks, str) else tuple(checks)
