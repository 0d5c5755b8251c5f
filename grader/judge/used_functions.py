"""A function of the learner's that fails may be right itself, and use another one that is wrong."""

from collections.abc import Mapping

from grader.judge.failure import Failure
from grader.records.results import MEND_FIRST
from grader.records.source import SourceWords


def sentence(failure: Failure, failures: Mapping[str, Failure], words: SourceWords) -> str | None:
    """Which function that fails checks of its own is used by the one that failed this check; None where there is none.

    words: of the learner's source. Functions that use each other say nothing.
    """
    function = failure.asked
    failed_functions = dict.fromkeys(
        name for other_failure in failures.values() for name in _its_own(other_failure) if name != function
    )
    used_names = words.uses(function) if function and failed_functions else frozenset()
    for name in failed_functions:
        if name in used_names and function not in words.uses(name):
            return f"{function} uses {name}{MEND_FIRST}{name} first."
    return None


def _its_own(failure: Failure) -> set[str]:
    """The function that the check calls, where it calls one alone: it is a check of that function."""
    called_functions = {call.function.partition(".")[0] for call in failure.calls}
    return called_functions if len(called_functions) == 1 else set()
