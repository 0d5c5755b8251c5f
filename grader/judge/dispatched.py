"""Judges the operations that torch ran in one call, which the worker recorded.

The record comes from a process that the grader does not trust. It is bounded and of plain data (worker/protocol.py); an
operation counts only where torch has one of that name, and code that reaches for what could forge a record is refused.
"""

import functools
import math
from dataclasses import dataclass

import torch

from grader.judge.compare import Mismatch
from grader.records import forbidden
from grader.records.syntax import place
from grader.worker.op_record import ATTENTION, NOT_WHOLE, OWN_DISPATCH
from grader.worker.operations import GROUPS, plain
from grader.worker.protocol import Reply
from grader.worker.wire import ProtocolError

Shape = tuple[int, ...]
FUSED = "_scaled_dot_product_"  # how the dispatcher names the forms of ready-made attention
# Operations that give another view of the same numbers: they compute nothing and take no memory.
VIEWS = {
    "view", "reshape", "_reshape_alias", "_unsafe_view", "expand", "permute", "transpose", "t", "movedim",
    "squeeze", "unsqueeze", "flatten", "unflatten", "select", "slice", "narrow", "unbind", "split",
    "split_with_sizes", "chunk", "diagonal", "unfold", "as_strided", "alias", "detach", "lift_fresh", "view_as",
    "view_as_real", "view_as_complex", "_conj", "_neg_view",
}  # fmt: skip


@dataclass(frozen=True)
class Operation:
    """One operation that torch ran: its name without "aten::", the shapes of the tensors that it took and gave."""

    name: str
    input_shapes: tuple[Shape, ...]
    output_shapes: tuple[Shape, ...]

    @property
    def is_attention(self) -> bool:
        """Whether it is torch's ready-made attention, in any of its forms."""
        return self.name == ATTENTION or self.name.startswith(FUSED)


def operations(reply: Reply, source: str) -> list[Operation]:
    """The record in a reply of the worker that runs this source.

    Raises Mismatch where it is not the whole record or could be forged, ProtocolError where it is none.
    """
    demand_no_machinery(source)
    if reply.unrecorded is not None:
        if reply.unrecorded not in NOT_WHOLE:
            raise ProtocolError("the reason for a missing record is none of ours")
        raise Mismatch(reply.unrecorded)
    if reply.operations is None:
        raise ProtocolError("the record of operations is missing")
    if any(name not in _known() for name, _, _ in reply.operations):
        raise Mismatch(OWN_DISPATCH)
    return [Operation(name, _shapes(inputs), _shapes(outputs)) for name, inputs, outputs in reply.operations]


def demand_no_machinery(source: str) -> None:
    """Raise Mismatch where a source reaches for what could blind a watch or a record in its own process."""
    for line, name in forbidden.machinery_uses(source)[:1]:
        rule = "the code of this exercise stays out of such machinery"
        raise Mismatch(f"{place(source, line)} uses {name}: {rule}")


def multiply_adds(operations: list[Operation]) -> int:
    """The work of a call, counted from shapes: the multiplications of products, and one step for each number that any
    other operation reads or writes, whichever are more. Views are free."""
    return sum(map(_work, operations))


def largest_tensor(operations: list[Operation]) -> int:
    """The number of elements of the largest tensor that a call made."""
    shapes = [shape for operation in operations if operation.name not in VIEWS for shape in operation.output_shapes]
    return max(map(math.prod, shapes), default=0)


def work_grows_less_than(most: float, shorter: list[Operation], longer: list[Operation], what: str) -> None:
    """Raise Mismatch where the longer call takes more than `most` multiply-adds beyond the shorter one."""
    shorter_work, longer_work = multiply_adds(shorter), multiply_adds(longer)
    if longer_work - shorter_work > most:
        details = f"counted {shorter_work:,} multiply-adds for the shorter, {longer_work:,} for the longer; "
        details += f"at most {most:,.0f} more"
        raise Mismatch(f"the work for {what} grows too much", details)


def _work(operation: Operation) -> int:
    if operation.name in VIEWS:
        return 0
    inputs, outputs = operation.input_shapes, operation.output_shapes
    touched = max(map(math.prod, (*inputs, *outputs)), default=0)
    if operation.is_attention and len(inputs) >= 3:
        queries, keys, values = inputs[:3]
        if queries and len(keys) > 1 and values:
            return math.prod(queries[:-1]) * keys[-2] * (queries[-1] + values[-1])
    if operation.name in GROUPS["products"] and len(inputs) >= 2:
        first, second = inputs[-2:]  # an addend comes before them
        return max(touched, math.prod(first) * (second[-1] if len(second) > 1 else 1))
    return touched


def _shapes(shapes: list[list[int]]) -> tuple[Shape, ...]:
    return tuple(map(tuple, shapes))


@functools.cache
def _known() -> frozenset[str]:
    """The names of torch's own operations."""
    names = (name.partition(".")[0] for name in torch._C._dispatch_get_all_op_names())
    return frozenset(plain(name) for name in names if name.startswith("aten::"))
