"""Promises on the answer to one call: it is the right one, or the right exception."""

from typing import Any

from grader.judge.compare import expect, same
from grader.judge.mismatch import Mismatch
from grader.judge.promises.targets import demand_object
from grader.judge.proxy import Module, Target
from grader.sandbox.call_results import LearnerError


def agrees(mine: Target, theirs: Target, *args: Any, tolerance: float | None = None, **kwargs: Any) -> Any:
    """The learner's result is the reference's. Returns it."""
    demand_object(mine, Target)
    got, expected = mine(*args, **kwargs), theirs(*args, **kwargs)
    try:
        expect(got, expected, tolerance=tolerance)
    except Mismatch:
        calls = len(mine._learner.calls)
        for _ in mine.other_maps() if isinstance(mine, Module) else ():
            if same(got := mine(*args, **kwargs), expected, tolerance):
                return got
        del mine._learner.calls[calls:]  # the message and the diagnosis are about the first call
        raise
    return got


def refuses(exception: type[BaseException], target: Target, *args: Any, **kwargs: Any) -> str:
    """The call raises this exception (or a subclass). Returns the exception's text."""
    demand_object(target, Target)
    try:
        result = target(*args, **kwargs)
    except LearnerError as error:
        if error.kind == "exception" and error.is_a(exception.__name__):
            return str(error.facts.get("message", ""))
        if error.kind == "exception" and not error.is_not_started:
            raised = error.facts.get("type")
            addition = ", a class of the file's own," if raised == exception.__name__ else ""
            raise Mismatch(f"{raised}{addition} was raised; expected {exception.__name__}") from None
        raise
    del result
    raise Mismatch(f"no error was raised; expected {exception.__name__}")
