"""The requirements of the helpers on the target that a check gives them."""

from grader.judge.mismatch import Mismatch
from grader.judge.proxy import Target
from grader.judge.words import kind
from grader.records.places import place


def demand_object(value: object, form: type[Target]) -> None:
    """Raise Mismatch where the learner's class gave something else than an object. A check may wrap the object."""
    wrapped = vars(value).values() if hasattr(value, "__dict__") else ()
    if not any(isinstance(candidate, form) for candidate in (value, *wrapped)):
        raise Mismatch(f"the object is {kind(value)}: a class is asked for, and calling it makes an object", "", value)


def where(target: Target, line: int) -> str:
    """The place of a line of the learner's source, as messages name it."""
    return place(target._learner.source, line)
