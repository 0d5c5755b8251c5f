"""Rates how well the answers of two known mistakes fit those of a learner who may have made both.

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

    right: the solution's trace. The first wrong answer of the learner's is compared. A pair gets NEVER where one of the
    two changes an earlier answer, or where neither has an answer of the learner's form.
    """
    shares = torch.full((len(traces), len(traces)), NEVER)
    if right.other is None or right.alike >= len(failure.calls):
        return shares.zero_()
    learner_call = failure.calls[right.alike]
    calls = [learner_call if trace.alike > right.alike else trace.other for trace in traces]
    usable = [trace.alike >= right.alike and call is not None for trace, call in zip(traces, calls, strict=True)]
    forms = [form(call) if call is not None else None for call in calls]
    learner_form, right_form = form(learner_call), form(right.other)
    in_form = torch.tensor([fits and got == learner_form for fits, got in zip(usable, forms, strict=True)])
    if right_form != learner_form:
        as_right = torch.tensor([fits and got == right_form for fits, got in zip(usable, forms, strict=True)])
        one_each = in_form[:, None] & (in_form | as_right)
        return torch.where(one_each | one_each.mT, 0.0, shares)
    values, solution = _values(learner_call), _values(right.other)
    chosen = [number for number, is_in_form in enumerate(in_form) if is_in_form]
    if not chosen or not len(values):
        return shares.where(~(in_form[:, None] & in_form), torch.zeros(()))
    answers = torch.stack([_values(call) for number in chosen if (call := calls[number]) is not None])
    dtype = next(tensor.dtype for tensor in _tensors(learner_call.value))
    room = TOLERANCE.get(dtype, (0.0, 0.0))
    keeps_right, is_learners = close(answers, solution, *room).double(), close(answers, values, *room).double()
    is_wrong = (~close(values, solution, *room)).double()
    # One mistake leaves the value right, and the other one's value is the learner's.
    explained_by_one = keeps_right @ ((1 - keeps_right) * is_learners).mT
    fitting = (
        keeps_right @ (keeps_right * is_learners).mT
        + 2 * (explained_by_one + explained_by_one.mT)
        + ((1 - keeps_right) * is_wrong) @ (1 - keeps_right).mT
    )
    numbers = torch.tensor(chosen)
    shares[numbers[:, None], numbers] = (1 - fitting / len(values)).float()
    return shares


def form(call: Call) -> Any:
    """The form of an answer. Only the values of answers of equal form can be compared."""
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
