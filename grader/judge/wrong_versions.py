"""The known mistakes of an exercise, run on the checks that a submission failed: which of them fail alike?"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, partial

from grader.catalog import mistakes
from grader.catalog.overlay import definitions
from grader.judge.collection import Check
from grader.judge.failure import Failure
from grader.judge.likeness import differ, outline, words
from grader.judge.proxy import Learner
from grader.judge.session import Session
from grader.records.bounded_cache import BoundedCache
from grader.sandbox.call_results import Call
from grader.sandbox.local import Local
from grader.sandbox.transcript import Differs

CACHED = 64 << 20  # bytes of the answers of wrong versions
NOT, ALIKE, TO_THE_LETTER = 0, 1, 2  # how closely a wrong version explains a failure


@dataclass(frozen=True, eq=False)
class WrongVersion:
    """A known mistake. sentence: the first line of its docstring, which the learner reads.

    overlay: what it changes; failed: the checks that it does not pass, None where failed_checks.json does not list it.
    load: makes the connection, when it is first asked for: many are never run.
    """

    name: str
    sentence: str
    overlay: str
    failed: frozenset[str] | None
    load: Callable[[], Local]

    @cached_property
    def connection(self) -> Local:
        """The wrong version, loaded in this process."""
        return self.load()

    @cached_property
    def functions(self) -> tuple[str, ...]:
        """The names of the functions that it changes, without methods."""
        return tuple(name for name in definitions(self.overlay) if "." not in name)

    def may_fail(self, check: str) -> bool:
        """Whether it fails this check, as far as `make verify` has recorded it."""
        return self.failed is None or check in self.failed


class WrongVersions:
    """The wrong versions of one exercise in one session.

    caches_runs: each wrong version runs each check to its end once, and its answers are cached. That is faster for a
    class; for one submission it is faster to stop at the first answer that differs from the learner's.
    """

    def __init__(self, session: Session):
        self.session, self.caches_runs = session, False
        self._runs: BoundedCache[tuple[str, str], tuple[BaseException | None, list[Call]]] = BoundedCache(CACHED)

    @cached_property
    def all(self) -> list[WrongVersion]:
        """Every known mistake of the exercise."""
        exercise = self.session.exercise
        failed_checks = mistakes.failed_checks(exercise.folder)
        versions = []
        for mistake in mistakes.mistakes(exercise.folder):
            load = partial(Local, mistake.source, mistake.path.name, exercise.slug)
            failed = failed_checks[mistake.name].checks if mistake.name in failed_checks else None
            sentence = mistake.sentence or mistake.name
            versions.append(WrongVersion(mistake.name, sentence, mistake.overlay, failed, load))
        return versions

    def explaining(self, candidates: Iterable[WrongVersion], failure: Failure) -> dict[WrongVersion, int]:
        """Those candidates that explain the failure, and how closely."""
        likeness = {wrong: self.explains(wrong, failure) for wrong in candidates}
        return {wrong: degree for wrong, degree in likeness.items() if degree != NOT}

    def explains(self, wrong: WrongVersion, failure: Failure) -> int:
        """How similar the failure of the wrong version is to the learner's: NOT, ALIKE or TO_THE_LETTER."""
        error, calls = self.run(wrong, failure.check) if self.caches_runs else self.follow(wrong, failure)
        if not _is_alike(error, calls, failure):
            return NOT
        if self.caches_runs and any(map(differ, calls, failure.calls)):
            return NOT
        return TO_THE_LETTER if error and words(error) == words(failure.error) else ALIKE

    def fails_alike(self, wrong: WrongVersion, failure: Failure) -> bool:
        """Whether the wrong version fails the check as the learner's code did. Nothing is cached."""
        return _is_alike(*self.follow(wrong, failure), failure)

    def fails_so(self, wrong: WrongVersion, failure: Failure) -> bool:
        """Whether the wrong version, where it fails the check, fails it in the same words, whatever the answers are."""
        error, _ = self.run(wrong, failure.check)
        return error is None or outline(error) == outline(failure.error)

    def broken(self, wrong: WrongVersion, passed: set[str]) -> int:
        """How many checks that the learner's code passed the wrong version fails. Measured ones count as listed."""
        suspects = [check for check in self.session.checks if check.id in passed and wrong.may_fail(check.id)]
        listed = wrong.failed is not None
        return sum(listed if check.measured else self.run(wrong, check)[0] is not None for check in suspects)

    def run(self, wrong: WrongVersion, check: Check) -> tuple[BaseException | None, list[Call]]:
        """The error and the calls of a check on a wrong version. A cached run is not repeated."""
        key = (wrong.name, check.id)
        run = self._runs.get(key)
        if run is None:
            run = self.session.run(check, Learner(wrong.connection))
            self._runs.put(key, run)
        return run

    def follow(self, wrong: WrongVersion, failure: Failure) -> tuple[BaseException | None, list[Call]]:
        """The same, up to the first answer that differs from the learner's: the error is Differs then."""
        return self.session.run(failure.check, Learner(wrong.connection, follows=failure.calls))


def _is_alike(error: BaseException | None, calls: list[Call], failure: Failure) -> bool:
    """Whether an error after these calls is the learner's error after the learner's calls."""
    if error is None or isinstance(error, Differs) or len(calls) != len(failure.calls):
        return False
    return outline(error) == outline(failure.error)
