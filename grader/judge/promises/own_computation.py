"""The promise that a function computes its result itself, without ready-made functions.

The watch in the learner's process finds the call and the line, which is what a learner wants to know. Code that blinds
it gains nothing: the same call is made in a worker that has no ready-made function, and must be right there too.
"""

from typing import Any

from grader.catalog import Forbidden
from grader.judge.mismatch import Mismatch
from grader.judge.promises.answers import agrees
from grader.judge.promises.targets import where
from grader.judge.proxy import Learner, Target
from grader.sandbox.call_results import LearnerError
from grader.sandbox.remote import Remote

READY_MADE = "worker.without_ready_made.ReadyMade"  # the exception of a worker without such functions


def computes_itself(target: Target, rule: Forbidden, *args: Any, **kwargs: Any) -> None:
    """All calls of this function so far used only operations of the rule's groups, and this call used at least one."""
    target(*args, watch=rule, **kwargs)
    hit = target._learner.hits.get(target.name)
    if hit:
        name, line = hit
        location = where(target, line) if line else target.name
        function = f"torch's ready-made {name.strip('_')}" if name else "a ready-made function"
        raise Mismatch(f"{location} uses {function}: write it yourself")
    if not target._learner.calls[-1].computed:
        raise Mismatch(f"{target.name} gives a result without computing it: {rule.reason}")


def computes_without_ready_made(target: Target, theirs: Learner, rule: Forbidden, *args: Any, **kwargs: Any) -> None:
    """The call gives the reference's result in a worker that has none of the functions that the rule forbids.

    Known mistakes, which are ours, are not asked.
    """
    connection = target._learner._connection
    if not isinstance(connection, Remote):
        return
    mine = Learner(connection.without_ready_made(rule), seed=target._learner._seed)
    try:
        agrees(getattr(mine, target.name), getattr(theirs, target.name), *args, **kwargs)
    except Mismatch:
        raise Mismatch(f"{target.name} is not right where torch has no ready-made functions: {rule.reason}") from None
    except LearnerError as error:
        if error.kind == "timeout":
            raise
        is_ready_made = READY_MADE in error.facts.get("bases", ())
        location = where(target, error.frame[0]) if is_ready_made and error.frame[0] else target.name
        raise Mismatch(f"{location} fails where torch has no ready-made functions: {rule.reason}") from None
