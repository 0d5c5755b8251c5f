"""The known mistakes of an exercise, run on the checks that a submission failed: which answer alike, and how far?"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from grader.catalog import mistakes, paths
from grader.judge.collection import Check
from grader.judge.compare import differ, outline, words
from grader.judge.failure import Failure, may_be_one
from grader.judge.proxy import Learner
from grader.judge.session import Session
from grader.records.bounded_cache import BoundedCache
from grader.sandbox.call_results import Call, Differs
from grader.sandbox.local import Local

NOT, ALIKE, TO_THE_LETTER = 0, 1, 2  # how closely a failure is the learner's
CACHED = 64 << 20  # bytes of the answers of wrong versions
NONE: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Trace:
    """How far a version answers as the learner's code did.

    alike: how many calls had the learner's answer; other: the first other answer, None where there is none; degree: how
    closely the failure is the learner's.
    """

    alike: int
    other: Call | None = None
    degree: int = NOT


def degree(error: BaseException | None, calls: list[Call], failure: Failure, source: str) -> int:
    """How closely an error after these calls is the learner's. The answers are taken to be alike.

    source: of what was called.
    """
    if error is None or len(calls) != len(failure.calls):
        return NOT
    if outline(error) != outline(failure.error):
        return NOT
    if not may_be_one(failure.error, error, source):
        return NOT
    return TO_THE_LETTER if words(error) == words(failure.error) else ALIKE


@dataclass(frozen=True, eq=False)
class WrongVersion:
    """A known mistake, or two of them in one file.

    slug: the name of the module. compose: gives its source when it is first needed, as many are never run.
    definitions: the names of what it changes. failed: the checks that it fails, None where failed_checks.json does not
    list it; not_passed: these and those that wait for them. parts: the two of which it was made. changes: the lines of
    its diff.
    """

    name: str
    slug: str
    sentence: str
    compose: Callable[[], str]
    definitions: tuple[str, ...] = ()
    failed: frozenset[str] | None = None
    not_passed: frozenset[str] | None = None
    parts: tuple["WrongVersion", ...] = ()
    changes: tuple[str, ...] = ()

    @cached_property
    def source(self) -> str:
        """The whole file."""
        return self.compose()

    @cached_property
    def connection(self) -> Local:
        """The wrong version, loaded in this process. Raises RuntimeError or ValueError where it cannot be run."""
        return Local(self.source, f"{self.slug}.py", self.slug)

    @cached_property
    def changed(self) -> frozenset[str]:
        """The names of the functions and classes that it changes, or whose methods it changes."""
        return frozenset(name.partition(".")[0] for name in self.definitions)

    def may_fail(self, check: str) -> bool:
        """Whether it fails this check or does not reach it, as far as `make verify` has recorded it."""
        return self.not_passed is None or check in self.not_passed

    def broken(self, passed: set[str]) -> int:
        """How many checks that the learner's code passed it fails, as far as `make verify` has recorded it."""
        return len((self.failed or NONE) & passed)


class WrongVersions:
    """The wrong versions of one exercise in one session.

    caches_runs: each wrong version runs each check to its end once, and its answers are cached. That is faster for a
    class; for one submission it is faster to stop at the first answer that differs from the learner's.
    """

    def __init__(self, session: Session):
        self.session, self.caches_runs = session, False
        self._traces: dict[tuple[WrongVersion, str], Trace] = {}  # of one submission
        self._runs: BoundedCache[tuple[str, str], tuple[BaseException | None, list[Call]]] = BoundedCache(CACHED)

    @cached_property
    def all(self) -> list[WrongVersion]:
        """Every known mistake of the exercise."""
        exercise = self.session.exercise
        listed = mistakes.failed_checks(exercise.folder)
        versions = []
        for mistake in mistakes.mistakes(exercise.folder):
            row = listed.get(mistake.name)
            failed, not_passed = (frozenset(row.failed), row.checks) if row else (None, None)
            known = mistake.name, exercise.slug, mistake.sentence, mistake.compose, mistake.definitions
            versions.append(WrongVersion(*known, failed, not_passed, changes=tuple(mistake.changes)))
        return versions

    @cached_property
    def solution(self) -> WrongVersion:
        """The solution, as a version that makes no mistake."""
        text = paths.solution(self.session.exercise.folder).read_text("utf-8")
        return WrongVersion("", self.session.exercise.slug, "", lambda: text, (), NONE, NONE)

    def begin(self) -> None:
        """Begin with another submission."""
        self._traces = {}

    def explaining(self, candidates: Iterable[WrongVersion], failure: Failure) -> dict[WrongVersion, int]:
        """The candidates that explain the failure, each with the degree to which it does."""
        likeness = {version: self.trace(version, failure).degree for version in candidates}
        return {version: degree for version, degree in likeness.items() if degree != NOT}

    def trace(self, version: WrongVersion, failure: Failure) -> Trace:
        """How far a version answers as the learner's code did."""
        key = (version, failure.check.id)
        if key not in self._traces:
            if self.caches_runs and version.failed is not None:
                run = self.run(version, failure.check)
            else:
                run = self.session.run(failure.check, Learner(version.connection, follows=failure.calls))
            self._traces[key] = _trace(*run, failure, version.source)
        return self._traces[key]

    def run(self, version: WrongVersion, check: Check) -> tuple[BaseException | None, list[Call]]:
        """The error and the calls of a check on a wrong version. A cached run is not repeated."""
        key = (version.name, check.id)
        run = self._runs.get(key)
        if run is None:
            run = self.session.run(check, Learner(version.connection))
            self._runs.put(key, run)
        return run


def _trace(error: BaseException | None, calls: list[Call], failure: Failure, source: str) -> Trace:
    """The trace of a run to its end, or to its first other answer."""
    if isinstance(error, Differs):
        return Trace(len(calls) - 1, calls[-1])
    for number, (call, learner_call) in enumerate(zip(calls, failure.calls, strict=False)):
        if differ(call, learner_call):
            return Trace(number, call)
    return Trace(min(len(calls), len(failure.calls)), None, degree(error, calls, failure, source))
