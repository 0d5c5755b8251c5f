"""How well the answers of two known mistakes fit a learner's who may have made both.

Where one mistake leaves a value of the right answer as it is, the other one's value should be the learner's. Where both
change it, the learner's should be another one than the right one. That says nothing of mistakes that change every
value, but much of masks, heads, batches and first tokens.
"""

from typing import Any

import torch

from grader.judge.failure import Failure
from grader.judge.following import Trace
from grader.judge.likeness import outline
from grader.judge.proxy import tensors_in
from grader.judge.tolerance import TOLERANCE, close
from grader.judge.words import is_plain
from grader.sandbox.call_results import Call

MAX_VALUES = 4096  # of an answer that are compared
NEVER = 2.0  # greater than each share of values


def misfits(right: Trace, traces: list[Trace], failure: Failure) -> torch.Tensor:
    """The share of the learner's values that do not fit, for each pair of mistakes. Shape (mistakes, mistakes).

    right: the solution's trace. The answer that counts is the first one of the learner's that is wrong. A pair gets
    NEVER where one of the two changes an answer before it, or where neither answers it in the learner's form.
    """
    found = torch.full((len(traces), len(traces)), NEVER)
    if right.other is None or right.alike >= len(failure.calls):
        return found.zero_()
    mine = failure.calls[right.alike]
    others = [mine if trace.alike > right.alike else trace.other for trace in traces]
    usable = [trace.alike >= right.alike and other is not None for trace, other in zip(traces, others, strict=True)]
    forms = [form(other) if other is not None else None for other in others]
    in_form = torch.tensor([fit and one == form(mine) for fit, one in zip(usable, forms, strict=True)])
    if form(right.other) != form(mine):
        as_right = torch.tensor([fit and one == form(right.other) for fit, one in zip(usable, forms, strict=True)])
        one_each = in_form[:, None] & (in_form | as_right)
        return torch.where(one_each | one_each.mT, 0.0, found)
    values, solution = _values(mine), _values(right.other)
    chosen = [number for number, fits in enumerate(in_form) if fits]
    if not chosen or not len(values):
        return found.where(~(in_form[:, None] & in_form), torch.zeros(()))
    answers = torch.stack([_values(other) for number in chosen if (other := others[number]) is not None])
    dtype = next(tensor.dtype for tensor in _tensors(mine.value))
    room = TOLERANCE.get(dtype, (0.0, 0.0))
    left, hit = close(answers, solution, *room).double(), close(answers, values, *room).double()
    wrong = (~close(values, solution, *room)).double()
    told = left @ ((1 - left) * hit).mT  # one leaves the value right, and the other's is the learner's
    fitting = left @ (left * hit).mT + 2 * (told + told.mT) + ((1 - left) * wrong) @ (1 - left).mT
    places = torch.tensor(chosen)
    found[places[:, None], places] = (1 - fitting / len(values)).float()
    return found


def form(call: Call) -> Any:
    """What two answers must have in common before their values can be compared."""
    if call.problem is not None:
        return outline(call.problem)
    return [(tuple(tensor.shape), tensor.dtype) for tensor in _tensors(call.value)] or type(call.value)


def _tensors(value: object) -> list[torch.Tensor]:
    """The tensors in an answer whose numbers can be compared."""
    return [tensor for tensor in tensors_in(value) if is_plain(tensor) and tensor.device.type != "meta"]


def _values(call: Call) -> torch.Tensor:
    """An even sample of the numbers in an answer."""
    tensors = [] if call.problem is not None else _tensors(call.value)
    flat = torch.cat([tensor.detach().flatten().double() for tensor in tensors]) if tensors else torch.zeros(0).double()
    return flat[:: max(1, -(-len(flat) // MAX_VALUES))]
