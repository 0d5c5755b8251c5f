"""Names a learner's mistake: runs the exercise's known wrong versions on the same calls.

A wrong version explains a failed check if it fails the same check and answered every call of it
as the learner's code did. Where none does, `structure` says what can be said in general.
"""

from typing import Any

import torch

from grader.catalog import mistakes, paths
from grader.judge import patterns, two_mistakes
from grader.judge.compare import Mismatch
from grader.judge.failure import Failure, differ, outline, words
from grader.judge.measuring import TooMuchMemory
from grader.judge.proxy import Learner, tensors_in
from grader.judge.session import Check, Session
from grader.judge.trials import Trials
from grader.judge.wrong_version import WrongVersion
from grader.records import containment
from grader.records.bounded_cache import BoundedCache
from grader.sandbox.call_results import Call, LearnerError
from grader.sandbox.local import Local
from grader.sandbox.remote import Remote
from grader.sandbox.transcript import Stop
from grader.worker.codec import Encoder
from grader.worker.protocol import Request

SEEN = 64 << 20  # bytes of what wrong versions answered that are kept
MAX_REPLAYS = 250  # of checks on wrong versions, for one submission
MAX_PAIRS = 120  # of wrong versions that are tried together, for one submission
NOT, ALIKE, TO_THE_LETTER = 0, 1, 2  # how closely a wrong version explains a failure


class Differs(Stop):
    """The wrong version answered otherwise than the learner's code: it is not the explanation."""


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
        self.tried = False  # whether the last diagnosis tried something out: it holds for that submission alone
        self._seen: BoundedCache[tuple[str, str], tuple[BaseException | None, list[Call]]] = BoundedCache(SEEN)
        self._wrong: list[WrongVersion] | None = None

    def sentences(
        self, failures: dict[str, Failure], passed: set[str], subject: Learner | None = None
    ) -> dict[str, str]:
        """A sentence for each failed check that can be explained.

        passed: the checks that did; subject: the proxy before the submission, with which something may be tried out.
        """
        self.tried = False
        begun = {name: failure for name, failure in failures.items() if not failure.is_not_started}
        none: dict[str, list[WrongVersion]] = {}
        matches = containment.optional("the diagnosis", none, self.matches, begun, passed)
        matches |= containment.optional("the diagnosis of two mistakes", none, self.pairs, begun, passed, matches)
        sentences = {name: self.choose(found, matches) for name, found in matches.items()}
        for name, failure in begun.items():
            if not sentences.get(name):
                general = ("the pattern of a wrong answer", None, self.general, failure, failures, passed, subject)
                sentences[name] = containment.optional(*general)
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

    def pairs(
        self, failures: dict[str, Failure], passed: set[str], matches: dict[str, list[WrongVersion]]
    ) -> dict[str, list[WrongVersion]]:
        """Two wrong versions in one, for each failure that none explains alone."""
        found: dict[str, list[WrongVersion]] = {}
        known = {wrong for others in matches.values() for wrong in others}
        tried: dict[tuple[WrongVersion, WrongVersion], WrongVersion | None] = {}
        explained: list[WrongVersion] = []
        exercise = self.session.exercise
        unexplained = [
            name for name, failure in failures.items() if not matches.get(name) and not failure.check.measured
        ]
        for name in unexplained:
            found[name] = [both for both in explained if self.replays(both, failures[name])]
            for pair in two_mistakes.candidates(self.wrong_versions, name, set(failures), passed, known):
                if found[name] or len(tried) >= MAX_PAIRS:
                    break
                if pair not in tried:
                    tried[pair] = two_mistakes.joined(paths.solution(exercise.folder), exercise.slug, *pair)
                both = tried[pair]
                if both is not None and self.replays(both, failures[name]):
                    found[name], explained = [both], [*explained, both]
        return found

    def replays(self, both: WrongVersion, failure: Failure) -> bool:
        """Whether a wrong version fails the check as the learner's code did: tried anew, up to the first difference."""
        error, calls = self.session.run(failure.check, Replay(both.connection, failure.calls))
        if error is None or isinstance(error, Differs) or len(calls) != len(failure.calls):
            return False
        return outline(error) == outline(failure.error)

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

    def general(
        self, failure: Failure, failures: dict[str, Failure], passed: set[str], subject: Learner | None
    ) -> str | None:
        """What can be said without a known mistake: of the answer, of the other checks, or after a trial."""
        if not isinstance(failure.error, Mismatch) or is_own(failure):
            return self.trial(failure, passed, subject)
        sentence = patterns.describe(failure.error)
        if sentence and not self.contradicted(sentence, failure, failures):
            return sentence
        return patterns.of_checks(failure, failures, passed, self.session.checks) or self.trial(
            failure, passed, subject
        )

    def contradicted(self, sentence: str, failure: Failure, failures: dict[str, Failure]) -> bool:
        """Whether a sentence on every value does not hold for another wrong answer of the same function."""
        if not sentence.startswith(patterns.EVERY):
            return False
        function = failure.calls[-1].function
        others = [other for other in failures.values() if other.calls and other.calls[-1].function == function]
        told = [other.error for other in others if isinstance(other.error, Mismatch) and other is not failure]
        return any(isinstance(error.got, torch.Tensor) and patterns.describe(error) != sentence for error in told)

    def trial(self, failure: Failure, passed: set[str], subject: Learner | None) -> str | None:
        """What a trial shows of a hidden check's failure."""
        if not failure.check.hidden or failure.check.measured or not failure.calls:
            return None
        if subject is None or subject._device != "cpu":  # our solution answers on the CPU alone
            return None
        connection = subject._connection
        if not isinstance(connection, Remote):
            return None
        self.tried = True
        return Trials(self.session, subject, connection, passed).sentence(failure)

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
                self._wrong.append(WrongVersion(mistake.name, sentence, mistake.overlay, connection, failed))
        return self._wrong


def is_own(failure: Failure) -> bool:
    """Whether an answer was held against another of the learner's own: then the expected one need not be right."""
    expected = failure.error.expected if isinstance(failure.error, Mismatch) else None
    if not isinstance(expected, torch.Tensor):
        return False
    answers = [tensor for call in failure.calls for tensor in tensors_in(call.value)]
    return any(_memory(expected) == _memory(answer) for answer in answers if answer.numel())


def _memory(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().data_ptr() if tensor.layout is torch.strided else 0
