"""A function of the learner's that fails may be right itself, and use another one that is wrong."""

from collections.abc import Mapping

from grader.judge.failure import Failure
from grader.records.source import SourceWords


def sentence(failure: Failure, failures: Mapping[str, Failure], words: SourceWords) -> str | None:
    """Which function that fails checks of its own is used by the one that failed this check; None where there is none.

    words: of the learner's source. Functions that use each other say nothing.
    """
    function = failure.asked
    others = dict.fromkeys(other.asked for other in failures.values() if other.asked not in ("", function))
    used = words.uses(function) if function and others else frozenset()
    for other in others:
        if other in used and function not in words.uses(other):
            return f"{function} uses {other}, whose own checks fail: mend {other} first."
    return None
