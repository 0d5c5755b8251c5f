"""Names a learner's mistake: runs the exercise's known wrong versions on the same calls.

A wrong version explains a failed check if it fails the same check and answered every call of it
as the learner's code did. Where none does, `structure` says what can be said in general.
"""

import re
from dataclasses import dataclass
from typing import Any

import torch

from grader.catalog import mistakes
from grader.judge import patterns
from grader.judge.compare import Mismatch, same
from grader.judge.measuring import TooMuchMemory
from grader.judge.proxy import Learner
from grader.judge.session import Check, Session
from grader.records import containment
from grader.records.bounded_cache import BoundedCache
from grader.sandbox.connection import Call, LearnerError, Local
from grader.sandbox.transcript import Stop
from grader.worker.codec import Encoder
from grader.worker.protocol import Request

SEEN = 64 << 20  # bytes of what wrong versions answered that are kept
MAX_REPLAYS = 250  # of checks on wrong versions, for one submission
OWN_WORDS = re.compile(r"(raise|assert)\b")  # a line whose exception says what its author wrote
DIGITS = re.compile(r"\d+")  # torch tells sizes, in an order that depends on how the code is written
COUNTS = re.compile(r"(cell \d+, )?line \d+|\d+ of \d+ values? (differ|is|are)")
NOT, ALIKE, TO_THE_LETTER = 0, 1, 2  # how closely a wrong version explains a failure
OTHER_DTYPES = ("float64", "bfloat16", "float16")


class Differs(Stop):
    """The wrong version answered otherwise than the learner's code: it is not the explanation."""


@dataclass(frozen=True)
class Failure:
    """A check that failed, the error, and the calls that led to it."""

    check: Check
    error: BaseException
    calls: list[Call]

    @property
    def is_not_started(self) -> bool:
        return isinstance(self.error, LearnerError) and self.error.is_not_started


@dataclass(frozen=True, eq=False)
class WrongVersion:
    """A known mistake. `sentence`: the first line of its docstring, what the learner reads.

    failed: the checks that it is known not to pass; None where nothing is written down of it.
    """

    name: str
    sentence: str
    connection: Local
    failed: frozenset[str] | None

    def may_fail(self, check: str) -> bool:
        return self.failed is None or check in self.failed


class Replay(Learner):
    """Runs a check on a wrong version and stops at the first answer that is not the learner's."""

    def __init__(self, connection: Local, recorded: list[Call]):
        super().__init__(connection)
        self._recorded = recorded

    def _exchange(self, request: Request, encoder: Encoder | None = None, call: Call | None = None) -> tuple[Any, ...]:
        try:
            value, reply = super()._exchange(request, encoder, call)
        except LearnerError as error:
            self._compare(None, error)
            raise
        if call is not None:
            self._compare(value, None)
        return value, reply

    def _note(self, call: Call) -> None:
        super()._note(call)
        self._compare(call.value, None)

    def _compare(self, value: Any, problem: LearnerError | None) -> None:
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
        self._seen: BoundedCache[tuple[str, str], tuple[BaseException | None, list[Call]]] = BoundedCache(SEEN)
        self._wrong: list[WrongVersion] | None = None

    def sentences(self, failures: dict[str, Failure], passed: set[str]) -> dict[str, str]:
        """A sentence for each failed check that can be explained. `passed`: the checks that did."""
        begun = {name: failure for name, failure in failures.items() if not failure.is_not_started}
        none: dict[str, list[WrongVersion]] = {}
        matches = containment.optional("the diagnosis", none, self.matches, begun, passed)
        sentences = {}
        for name, failure in begun.items():
            general = ("the pattern of a wrong answer", None, self.general, failure, failures, passed)
            sentences[name] = self.choose(matches.get(name, []), matches) or containment.optional(*general)
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
            if failure.check.measured:
                matches[name] = self.as_hungry(failure, failures, passed)
                continue
            alike = self.alike(known, failure)
            for likely in (True, False):
                if not alike:
                    others = [wrong for wrong in self.wrong_versions if wrong not in known]
                    others = [wrong for wrong in others if wrong.may_fail(name) == likely][: max(left, 0)]
                    left -= len(others)
                    alike = self.alike(others, failure)
                    known += alike
            if len(alike) > 1:
                alike = {wrong: likeness for wrong, likeness in alike.items() if not self.breaks_any(wrong, passed)}
            closest = max(alike.values(), default=NOT)
            matches[name] = [wrong for wrong, likeness in alike.items() if likeness == closest]
        return matches

    def as_hungry(self, failure: Failure, failures: dict[str, Failure], passed: set[str]) -> list[WrongVersion]:
        """The wrong versions that are known to take too much memory where the learner's code does, and there alone.

        What is written down of them says so: none is run, for that would take the memory here.
        """
        if not isinstance(failure.error, TooMuchMemory):
            return []
        measured = {check.id for check in self.session.checks if check.measured}
        mine = measured & failures.keys()
        known = [(wrong, wrong.failed) for wrong in self.wrong_versions if wrong.failed is not None]
        return [wrong for wrong, failed in known if failed & measured == mine and not failed & passed]

    def alike(self, candidates: list[WrongVersion], failure: Failure) -> dict[WrongVersion, int]:
        """Those that explain the failure, each with how closely."""
        found = {wrong: self.explains(wrong, failure) for wrong in candidates}
        return {wrong: likeness for wrong, likeness in found.items() if likeness}

    def explains(self, wrong: WrongVersion, failure: Failure) -> int:
        """How closely the wrong version fails the check as the learner's code did: NOT, ALIKE or TO_THE_LETTER."""
        if self.remembers:
            error, calls = self.seen(wrong, failure.check)
        else:
            error, calls = self.session.run(failure.check, Replay(wrong.connection, failure.calls))
        if error is None or isinstance(error, Differs) or len(calls) != len(failure.calls):
            return NOT
        if outline(error) != outline(failure.error) or (self.remembers and any(map(differ, calls, failure.calls))):
            return NOT
        return TO_THE_LETTER if words(error) == words(failure.error) else ALIKE

    def choose(self, found: list[WrongVersion], matches: dict[str, list[WrongVersion]]) -> str | None:
        """The explanation that explains most checks; of equals, two are offered."""
        if not found:
            return None
        score = {wrong: sum(wrong in others for others in matches.values()) for wrong in found}
        best = [wrong for wrong in found if score[wrong] == max(score.values())]
        return "  or: ".join(wrong.sentence for wrong in best[:2])

    def breaks_any(self, wrong: WrongVersion, passed: set[str]) -> bool:
        """Whether the wrong version fails a check that the learner's code passed."""
        suspects = [check for check in self.session.checks if check.id in passed and wrong.may_fail(check.id)]
        if any(check.measured for check in suspects) and wrong.failed is not None:
            return True
        return any(self.seen(wrong, check)[0] is not None for check in suspects if not check.measured)

    def seen(self, wrong: WrongVersion, check: Check) -> tuple[BaseException | None, list[Call]]:
        """The error and the calls of a check on a wrong version."""
        key = (wrong.name, check.id)
        known = self._seen.get(key)
        if known is None:
            known = self.session.run(check, Learner(wrong.connection))
            self._seen.put(key, known)
        return known

    def general(self, failure: Failure, failures: dict[str, Failure], passed: set[str]) -> str | None:
        """What can be said without a known mistake."""
        return patterns.describe(failure.error) or self.pattern(failure, failures, passed)

    def pattern(self, failure: Failure, failures: dict[str, Failure], passed: set[str]) -> str | None:
        """What the other checks say of this one's failure."""
        error = failure.error
        if not isinstance(error, Mismatch) or not isinstance(error.got, torch.Tensor):
            return None
        hidden = {check.id: check.hidden for check in self.session.checks}
        every = [other.calls[-1].text if other.calls else "" for other in failures.values()]
        if passed and all(any(dtype in text for dtype in OTHER_DTYPES) for text in every):
            return "Right in float32 only: does the code make a tensor without dtype=x.dtype, or convert one?"
        if not any(hidden[name] for name in failures) and any(hidden[name] for name in passed):
            return "Right on fresh inputs: only what is drawn after the seed differs from the document (order, or how)."
        same_task = [check for check in self.session.checks if check.task == failure.check.task]
        shown = [check.id for check in same_task if not check.hidden]
        plain = failure.calls and failure.calls[-1].want == "output" and patterns.is_finite(error.got)
        if plain and shown and all(name in passed for name in shown) and hidden[failure.check.id]:
            return "Right for the documented example: is a size or a value of it written into the code?"
        return None

    @property
    def wrong_versions(self) -> list[WrongVersion]:
        if self._wrong is None:
            exercise = self.session.exercise
            known = mistakes.failed_checks(exercise.folder)
            self._wrong = []
            for mistake in mistakes.mistakes(exercise.folder):
                connection = Local(mistake.source, mistake.path.name, exercise.slug)
                failed = known[mistake.name].checks if mistake.name in known else None
                sentence = mistake.sentence or mistake.name
                self._wrong.append(WrongVersion(mistake.name, sentence, connection, failed))
        return self._wrong


def differ(one: Call, other: Call) -> bool:
    """Whether two calls had other answers."""
    if one.problem is None and other.problem is None:
        return not same(_plain(one.value), _plain(other.value))
    return one.problem is None or other.problem is None or outline(one.problem) != outline(other.problem)


def outline(error: BaseException) -> tuple[Any, ...]:
    """What must be equal of two failures: the kind and the words. Neither numbers nor the author's own words count."""
    if isinstance(error, LearnerError):
        own = OWN_WORDS.match(str((error.facts.get("frames") or [[0, "", ""]])[-1][2]))
        return (error.kind, error.facts.get("type"), "" if own else DIGITS.sub("0", words(error)))
    return ("mismatch", None, words(error))


def words(error: BaseException) -> str:
    """What a failure says, without places and counts."""
    if isinstance(error, LearnerError):
        return str(error.facts.get("message", error.facts.get("signature", "")))[:200]
    return COUNTS.sub("", error.summary if isinstance(error, Mismatch) else str(error))


def _plain(value: Any) -> Any:
    """An answer with every object of the learner's replaced by its class's name."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return getattr(value, "class_name", value)
