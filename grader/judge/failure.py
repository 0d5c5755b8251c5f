"""A failed check, and when two failures or two answers are alike."""

import re
from dataclasses import dataclass
from typing import Any

from grader.judge.compare import Mismatch, same
from grader.judge.session import Check
from grader.sandbox.connection import Call, LearnerError


@dataclass(frozen=True)
class Failure:
    """A check that failed, the error, and the calls that led to it."""

    check: Check
    error: BaseException
    calls: list[Call]

    @property
    def is_not_started(self) -> bool:
        return isinstance(self.error, LearnerError) and self.error.is_not_started


def differ(one: Call, other: Call) -> bool:
    """Whether two calls had other answers."""
    if one.problem is None and other.problem is None:
        return not same(_plain(one.value), _plain(other.value))
    return one.problem is None or other.problem is None or outline(one.problem) != outline(other.problem)


def outline(error: BaseException) -> tuple[Any, ...]:
    """What must be equal of two failures: the kind and the words. The counts of values in ours do not matter.

    The words of a learner's own `raise` or `assert` do not count: each writes others. The sizes in torch's count in any
    order: x.masked_fill(mask, 0) and its twin with _ tell them in another one.
    """
    if isinstance(error, LearnerError):
        text = str(error.facts.get("message", error.facts.get("signature", "")))
        frames = error.facts.get("frames") or [[0, "", ""]]
        own = str(frames[-1][2]).startswith(("raise", "assert"))
        words = "" if own else re.sub(r"\d+", "", text)[:200]
        return (error.kind, error.facts.get("type"), words, [] if own else sorted(re.findall(r"\d+", text)))
    text = error.summary if isinstance(error, Mismatch) else str(error)
    return ("mismatch", None, re.sub(r"(cell \d+, )?line \d+|\d+ of \d+ values? (differ|is|are)", "", text))


def _plain(value: Any) -> Any:
    """An answer with every object of the learner's replaced by its class's name."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return getattr(value, "class_name", value)
