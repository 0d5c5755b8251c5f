"""Names a learner's mistake: runs the exercise's known wrong versions on the same calls.

A wrong version explains a failed check if it fails the same check and answered every call of it
as the learner's code did. Where none does, `structure` says what can be said in general.
"""

import json
import re
from dataclasses import dataclass

import torch

from grader import paths, structure
from grader.compare import Mismatch, same
from grader.connection import Call, LearnerError, Local, Stop
from grader.learner import Learner
from grader.session import Session, check_id, is_hidden, task_of

MAX_REPLAYS = 250  # of checks on wrong versions, for one submission
OTHER_DTYPES = ("float64", "bfloat16", "float16")


class Differs(Stop):
    """The wrong version answered otherwise than the learner's code: it is not the explanation."""


@dataclass(frozen=True)
class Failure:
    """A check that failed: pytest's item, the error, and the calls that led to it."""

    item: object
    error: BaseException
    calls: list[Call]

    @property
    def is_not_started(self) -> bool:
        return isinstance(self.error, LearnerError) and self.error.is_not_started


@dataclass(frozen=True, eq=False)
class WrongVersion:
    """A known mistake. `sentence`: the first line of its docstring, what the learner reads.

    kills: the checks that it is known not to pass; None where nothing is written down of it.
    """

    name: str
    sentence: str
    connection: Local
    kills: frozenset[str] | None

    def may_fail(self, check: str) -> bool:
        return self.kills is None or check in self.kills


class Replay(Learner):
    """Runs a check on a wrong version and stops at the first answer that is not the learner's."""

    def __init__(self, connection: Local, recorded: list[Call]):
        super().__init__(connection)
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

    def _note(self, call: Call) -> None:
        super()._note(call)
        self._compare(call.value, None)

    def _compare(self, value, problem: LearnerError | None) -> None:
        index = len(self.calls) - 1
        if index >= len(self._recorded):
            raise Differs
        if differ(Call("", "", "", value, problem), self._recorded[index]):
            raise Differs


class Diagnostician:
    """Explains failed checks, for one exercise in one session.

    remembers: each wrong version is put through each check once, and what came of it is kept. For a class that
    is faster; for one submission it is to stop a replay at the first answer that differs.
    """

    def __init__(self, session: Session):
        self.session, self.remembers = session, False
        self._seen: dict[tuple[str, str], tuple[BaseException | None, list[Call]]] = {}
        self._wrong: list[WrongVersion] | None = None

    def sentences(self, failures: dict[str, Failure], passed: set[str]) -> dict[str, str]:
        """A sentence for each failed check that can be explained. `passed`: the checks that did."""
        matches = self.matches(failures, passed)
        sentences = {}
        for name, found in matches.items():
            sentence = self.choose(found, matches) or structure.describe(failures[name].error)
            sentences[name] = sentence or self.pattern(failures[name], failures, passed)
        return {name: sentence for name, sentence in sentences.items() if sentence}

    def matches(self, failures: dict[str, Failure], passed: set[str]) -> dict[str, list[WrongVersion]]:
        """The wrong versions that explain each failure: those that break no check that the learner passed,
        else the only one that explains it (the learner's mistake reaches less far than the known one's).

        One mistake usually explains several checks: what explained one is tried first on the next. Then come those
        that are known to fail the check, and last the others: with another seed they may fail it too. The number of
        replays is limited, so that code that nothing explains is told so in a blink.
        """
        matches: dict[str, list[WrongVersion]] = {}
        known: list[WrongVersion] = []  # what explained a failure before this one
        left = MAX_REPLAYS
        for name, failure in failures.items():
            if failure.is_not_started:
                continue
            found = [wrong for wrong in known if self.explains(wrong, failure)]
            for likely in (True, False):
                if not found:
                    others = [wrong for wrong in self.wrong_versions if wrong not in known]
                    others = [wrong for wrong in others if wrong.may_fail(name) == likely][: max(left, 0)]
                    left -= len(others)
                    found = [wrong for wrong in others if self.explains(wrong, failure)]
                    known += found
            if len(found) > 1:
                found = [wrong for wrong in found if not self.breaks_any(wrong, passed)]
            matches[name] = found
        return matches

    def explains(self, wrong: WrongVersion, failure: Failure) -> bool:
        """Whether the wrong version fails the check as the learner's code did."""
        if self.remembers:
            error, calls = self.seen(wrong, failure.item)
            alike = error is not None and len(calls) == len(failure.calls) and outline(error) == outline(failure.error)
            return alike and not any(map(differ, calls, failure.calls))
        replay = Replay(wrong.connection, failure.calls)
        error, calls = self.session.run(failure.item, replay)
        if error is None or isinstance(error, Differs) or len(calls) != len(failure.calls):
            return False
        return outline(error) == outline(failure.error)

    def choose(self, found: list[WrongVersion], matches: dict[str, list[WrongVersion]]) -> str | None:
        """The explanation that explains most checks; of equals, two are offered."""
        if not found:
            return None
        score = {wrong: sum(wrong in others for others in matches.values()) for wrong in found}
        best = [wrong for wrong in found if score[wrong] == max(score.values())]
        return "  or: ".join(wrong.sentence for wrong in best[:2])

    def breaks_any(self, wrong: WrongVersion, passed: set[str]) -> bool:
        """Whether the wrong version fails a check that the learner's code passed."""
        suspects = {name for name in passed if wrong.may_fail(name)}
        items = [item for item in self.session.items if check_id(item) in suspects]
        return any(self.seen(wrong, item)[0] is not None for item in items)

    def seen(self, wrong: WrongVersion, item) -> tuple[BaseException | None, list[Call]]:
        """The error and the calls of a check on a wrong version."""
        key = (wrong.name, check_id(item))
        if key not in self._seen:
            self._seen[key] = self.session.run(item, Learner(wrong.connection))
        return self._seen[key]

    def pattern(self, failure: Failure, failures: dict[str, Failure], passed: set[str]) -> str | None:
        """What the other checks say of this one's failure."""
        error = failure.error
        if not isinstance(error, Mismatch) or not isinstance(error.got, torch.Tensor):
            return None
        hidden = {check_id(item): is_hidden(item) for item in self.session.items}
        every = [other.calls[-1].text if other.calls else "" for other in failures.values()]
        if passed and all(any(dtype in text for dtype in OTHER_DTYPES) for text in every):
            return "Right in float32 only: does the code make a tensor without dtype=x.dtype, or convert one?"
        if not any(hidden[name] for name in failures) and any(hidden[name] for name in passed):
            return "Right on fresh inputs: only what is drawn after the seed differs from the document (order, or how)."
        same_task = [item for item in self.session.items if task_of(item)[0] == task_of(failure.item)[0]]
        shown = [check_id(item) for item in same_task if not is_hidden(item)]
        plain = failure.calls and failure.calls[-1].want == "output" and bool(error.got.isfinite().all())
        if plain and shown and all(name in passed for name in shown) and hidden[check_id(failure.item)]:
            return "Right for the documented example: is a size or a value of it written into the code?"
        return None

    @property
    def wrong_versions(self) -> list[WrongVersion]:
        if self._wrong is None:
            exercise = self.session.exercise
            path = paths.kills(exercise.folder)
            kills = json.loads(path.read_text("utf-8")) if path.exists() else {}
            self._wrong = []
            for path in paths.wrong_versions(exercise.folder):
                connection = Local.load(path, exercise.slug)
                doc = (connection.executor.module.__doc__ or path.stem).strip()
                known = frozenset(kills[path.stem]) if path.stem in kills else None
                self._wrong.append(WrongVersion(path.stem, doc.splitlines()[0], connection, known))
        return self._wrong


def differ(one: Call, other: Call) -> bool:
    """Whether two calls had other answers."""
    if one.problem is None and other.problem is None:
        return not same(_plain(one.value), _plain(other.value))
    return one.problem is None or other.problem is None or outline(one.problem) != outline(other.problem)


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
