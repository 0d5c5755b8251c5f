"""What a function of the learner's uses: another one that is wrong, while it may be right itself; not an argument."""

from collections.abc import Mapping

from grader.judge.failure import Failure
from grader.judge.mismatch import FORBIDDEN, Mismatch
from grader.records.results import MEND_FIRST
from grader.records.source import SourceWords
from grader.sandbox.call_results import LearnerError

METHODS = ("__init__", "forward")


def sentence(failure: Failure, failures: Mapping[str, Failure], words: SourceWords) -> str | None:
    """The sentence on a wrong function that the function of this failed check uses; None where there is none.

    words: of the learner's source. An object of the learner's that a function is given is used by it too. Functions
    that use each other say nothing.
    """
    function = failure.last_called
    if failure.is_endless:
        return None
    if failure.raised and _raised_itself(failure, function):
        return None
    failed_functions = dict.fromkeys(
        name
        for other_failure in failures.values()
        if other_failure.way[1] in ("output", failure.way[1])  # wrong gradients do not make values wrong
        for name in _its_own(other_failure)
        if name != function
    )
    objects = {name for call in failure.calls if (name := call.function.partition(".")[0])[:1].isupper()}
    backward = failure.way[1] != "output"
    used_names = words.uses(function, backward) if function and failed_functions else frozenset()
    for name in failed_functions:
        if function and name in used_names | objects and function not in words.uses(name):
            return f"{function} {'uses' if name in used_names else 'is tried with'} {name}{MEND_FIRST}{name} first."
    return None


def _raised_itself(failure: Failure, function: str) -> bool:
    """Whether the exception comes from a line of the function's own, or of the class's, and not of what it uses."""
    name = failure.error.frame[1] if isinstance(failure.error, LearnerError) else ""
    return name == function or (function[:1].isupper() and name in METHODS)


def unread(failure: Failure, words: SourceWords) -> str | None:
    """Which argument the function that failed a check never reads; None where it reads all, or was not called."""
    names = words.unread(failure.last_called)
    is_called = not isinstance(failure.error, LearnerError) or failure.error.kind == "exception"
    is_slip = isinstance(failure.error, LearnerError) and failure.error.facts.get("type") == "NameError"
    return (
        f"{failure.last_called} never reads its argument {names[0]}." if names and is_called and not is_slip else None
    )


def _its_own(failure: Failure) -> set[str]:
    """The function that the check calls, where it calls one alone: it is a check of that function."""
    if isinstance(failure.error, Mismatch) and failure.error.summary.startswith(FORBIDDEN):
        return set()  # its answers may be right
    called_functions = {call.function.partition(".")[0] for call in failure.calls}
    return called_functions if len(called_functions) == 1 else set()
