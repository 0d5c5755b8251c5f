"""The promise that a function computes its result itself, without ready-made functions."""

from typing import Any

from grader.catalog import Forbidden
from grader.judge.dispatched import demand_no_machinery
from grader.judge.mismatch import Mismatch
from grader.judge.promises.targets import where
from grader.judge.proxy import Target


def computes_itself(target: Target, rule: Forbidden, *args: Any, **kwargs: Any) -> None:
    """All calls of this function so far used only operations of the rule's groups, and this call used at least one.

    Its file must not use what could switch off the watch on operations, which runs in the learner's process.
    """
    target(*args, watch=rule, **kwargs)
    demand_no_machinery(target._learner.source)
    hit = target._learner.hits.get(target.name)
    if hit:
        name, line = hit
        location = where(target, line) if line else target.name
        function = f"torch's ready-made {name.strip('_')}" if name else "a ready-made function"
        raise Mismatch(f"{location} uses {function}: write it yourself")
    if not target._learner.calls[-1].computed:
        raise Mismatch(f"{target.name} gives a result without computing it: {rule.reason}")
