"""Judges the kernels that a call launched, as Triton's interpreter ran them and the worker recorded them.

The record comes from a process that the grader does not trust. It is bounded and of plain data (worker/protocol.py),
and code that reaches for what could forge it is refused. On a GPU kernels run natively and nothing is recorded: there
the promises on a record hold without a look.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

from grader.judge import dispatched
from grader.judge.compare import Mismatch, expect
from grader.judge.dispatched import Operation
from grader.records.syntax import place
from grader.worker import kernels
from grader.worker.protocol import Reply
from grader.worker.wire import ProtocolError

# Operations that make a tensor whose numbers are not computed, or that tell something of one.
MAKING = {
    "empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "zeros", "zeros_like", "new_zeros",
    "full", "full_like", "new_full", "zero", "fill", "ones", "ones_like", "new_ones", "is_same_size", "sym_size",
    "sym_stride", "sym_numel", "is_contiguous", "is_strides_like_format", "is_non_overlapping_and_dense",
}  # fmt: skip
FREE = MAKING | dispatched.VIEWS


class Launch(NamedTuple):
    """One launch of a kernel. largest: lanes of its largest load; outside: (line, "load" or "store", lanes)."""

    kernel: str
    programs: int
    largest: int
    outside: list[Any]


@dataclass(frozen=True)
class Launched:
    """The result of a call, and how it was computed. is_native: on a GPU, where nothing is recorded."""

    result: Any
    launches: tuple[Launch, ...]
    operations: tuple[Operation, ...]
    source: str
    is_native: bool = False


def answer(value: Any, reply: Reply) -> list[Any]:
    """What a known mistake must answer alike: the result, what left the tensors, what was launched, torch's work."""
    launches = reply.launches or []
    outside = sorted({kind for row in launches for _, kind, _ in row[3]})
    names = sorted({name for name, _, _ in reply.operations or ()} - FREE)
    return [value, outside, [[name, math.prod(grid)] for name, grid, *_ in launches], names]


def read(result: Any, reply: Reply, source: str, is_native: bool) -> Launched:
    """The record in a reply of the worker that runs this source.

    Raises Mismatch where it is not the whole record or could be forged, ProtocolError where it is none.
    """
    if is_native:
        return Launched(result, (), (), source, is_native)
    if reply.unrecorded == kernels.TOO_MANY:
        raise Mismatch(kernels.TOO_MANY)
    operations = tuple(dispatched.operations(reply, source))
    if reply.launches is None or any(kind not in ("load", "store") for row in reply.launches for _, kind, _ in row[3]):
        raise ProtocolError("the record of launches is none of ours")
    launches = (Launch(_name(name, source), math.prod(grid), *rest) for name, grid, *rest in reply.launches)
    return Launched(result, tuple(launches), operations, source)


def _name(name: str, source: str) -> str:
    """The name of a kernel where the source defines it: code in the worker's process can write any other."""
    return name if name.isidentifier() and f"def {name}(" in source else "a kernel"


def launches_once(record: Launched, kernel: str, programs: int | None = None) -> None:
    """One launch of this kernel and of no other one, in so many programs."""
    names = [launch.kernel for launch in record.launches]
    if record.is_native or (names == [kernel] and programs in (None, record.launches[0].programs)):
        return
    if not names:
        raise Mismatch(f"no kernel is launched: the numbers have to come from {kernel}")
    if names != [kernel]:
        what = "more than one launch" if len(names) > 1 else "the launch of another kernel"
        raise Mismatch(f"{kernel} has to be launched, once and nothing else: this call makes {what}")
    details = f"in {record.launches[0].programs}, not {programs}"
    raise Mismatch(f"{kernel} does not run in the programs of the lesson's grid", details)


def stays_inside(record: Launched, kind: str = "") -> None:
    """Every address that a kernel loads from or stores to is an element of a tensor that was passed to it.

    kind: "load" or "store"; "" for both.
    """
    for launch in record.launches:
        for line, left, count in launch.outside:
            if kind in ("", left):
                where = place(record.source, line) if 0 < line <= record.source.count("\n") + 1 else launch.kernel
                summary = f"the {left} in {where} leaves the tensors that were passed to the kernel: mask those lanes"
                raise Mismatch(summary, f"{count} lanes of the launch are outside")


def computes_in_kernels(record: Launched) -> None:
    """torch makes empty tensors and views, and computes and copies nothing."""
    for operation in record.operations:
        if operation.name not in FREE:
            name = operation.name.removeprefix("_")
            rule = "outside of the kernel only empty tensors and views are made"
            raise Mismatch(f"torch works here too ({name}): {rule}")


def loads_at_most(record: Launched, lanes: int, what: str) -> None:
    """No load takes more numbers than that."""
    for launch in record.launches:
        if launch.largest > lanes:
            summary = f"one load takes more numbers than {what} holds: let each program work through tiles"
            raise Mismatch(summary, f"the largest load has {launch.largest} lanes; {what} has {lanes}")


def gives(record: Launched, expected: Any, what: str = "the result", tolerance: float | None = None) -> None:
    """The result is right. Others as for `expect`."""
    expect(record.result, expected, what, tolerance)
