"""Names a learner's mistake: runs the exercise's known wrong versions on the same calls.

A wrong version explains a failed check if it fails the same check and answered every call of it
as the learner's code did. Where none does, `structure` says what can be said in general.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from grader.compare import Mismatch, same
from grader.learner import Call, Learner, LearnerError, Local


class Differs(Exception):
    """The wrong version answered otherwise than the learner's code: it is not the explanation."""


@dataclass
class WrongVersion:
    """A known mistake. `sentence`: the first line of its docstring, what the learner reads."""

    name: str
    sentence: str
    connection: Local


class Replay(Learner):
    """Runs a check on a wrong version and stops at the first answer that is not the learner's."""

    def __init__(self, connection: Local, device: str, recorded: list[Call]):
        super().__init__(connection, device)
        self._recorded = recorded

    def _ask(self, message, encoder, function, call=None):
        try:
            value, reply = super()._ask(message, encoder, function, call)
        except LearnerError as error:
            self._compare(None, error)
            raise
        if call is not None:
            self._compare(value, None)
        return value, reply

    def _compare(self, value, problem: LearnerError | None) -> None:
        index = len(self.calls) - 1
        if index >= len(self._recorded):
            raise Differs
        theirs = self._recorded[index]
        if (problem is None) != (theirs.problem is None):
            raise Differs
        if problem is not None and outline(problem) != outline(theirs.problem):
            raise Differs
        if problem is None and not same(_plain(value), _plain(theirs.value)):
            raise Differs


def explains(wrong: WrongVersion, calls: list[Call], error: BaseException, run: Callable, device: str) -> bool:
    """Whether the wrong version fails the check as the learner did. `run(learner)` gives its error."""
    replay = Replay(wrong.connection, device, calls)
    found = run(replay)
    if found is None or isinstance(found, Differs) or len(replay.calls) != len(calls):
        return False
    return outline(found) == outline(error)


def outline(error: BaseException) -> tuple:
    """What must be equal of two failures: the kind and the words, numbers aside."""
    if isinstance(error, LearnerError):
        text = str(error.facts.get("message", error.facts.get("signature", "")))
        return (error.kind, error.facts.get("type"), text[:200])
    text = error.summary if isinstance(error, Mismatch) else str(error)
    return ("mismatch", None, re.sub(r"line \d+|\d+ of \d+ values? (differ|is|are)", "", text))


def _plain(value):
    """An answer with every object of the learner's replaced by its class's name."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return getattr(value, "class_name", value)
