"""The known mistakes of an exercise, run on the checks that a submission failed: which answer alike, and how far?"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, partial

from grader.catalog import mistakes, paths
from grader.judge.collection import Check
from grader.judge.compare import differ, outline, words
from grader.judge.failure import Failure
from grader.judge.proxy import Learner
from grader.judge.session import Session
from grader.judge.words import likeness
from grader.records.bounded_cache import BoundedCache
from grader.sandbox.call_results import Call, Differs, LearnerError
from grader.sandbox.local import Local

NOT, ALIKE, TO_THE_LETTER = 0, 1, 2  # how closely a failure is the learner's
CACHED = 64 << 20  # bytes of the answers of wrong versions
NONE: frozenset[str] = frozenset()


def degree(error: BaseException | None, calls: list[Call], failure: Failure) -> int:
    """How closely a run that ended with this error, after these calls, is the learner's."""
    if error is None or isinstance(error, Differs) or len(calls) != len(failure.calls):
        return NOT
    if any(map(differ, calls, failure.calls)) or outline(error) != outline(failure.error):
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
        self._degrees: dict[tuple[WrongVersion, str], int] = {}  # of one submission
        self._lines: dict[tuple[WrongVersion, str], str] = {}  # on which a version raised an error in a check
        self._runs: BoundedCache[tuple[str, str], tuple[BaseException | None, list[Call]]] = BoundedCache(CACHED)

    @cached_property
    def all(self) -> list[WrongVersion]:
        """Every known mistake of the exercise."""
        exercise = self.session.exercise
        listed = mistakes.failed_checks(exercise.folder)
        versions = []
        for one in mistakes.mistakes(exercise.folder):
            row = listed.get(one.name)
            failed = frozenset(row.failed) if row else None
            not_passed = frozenset(row.failed + row.not_checked) if row else None
            known = one.name, exercise.slug, one.sentence, partial(getattr, one, "source"), one.definitions
            versions.append(WrongVersion(*known, failed, not_passed, changes=tuple(one.changes)))
        return versions

    @cached_property
    def solution(self) -> WrongVersion:
        """The solution, as a version that makes no mistake."""
        text = paths.solution(self.session.exercise.folder).read_text("utf-8")
        return WrongVersion("", self.session.exercise.slug, "", lambda: text, (), NONE, NONE)

    def begin(self) -> None:
        """Begin with another submission."""
        self._degrees, self._lines = {}, {}

    def explaining(self, candidates: Iterable[WrongVersion], failure: Failure) -> dict[WrongVersion, int]:
        """The candidates that explain the failure, each with the degree to which it does."""
        degrees = {version: self.degree(version, failure) for version in candidates}
        return {version: degree for version, degree in degrees.items() if degree != NOT}

    def degree(self, version: WrongVersion, failure: Failure) -> int:
        """How closely a version fails as the learner's code did."""
        key = (version, failure.check.id)
        if key not in self._degrees:
            if self.caches_runs and version.failed is not None:
                error, calls = self.run(version, failure.check)
            else:
                error, calls = self.session.run(failure.check, Learner(version.connection, follows=failure.calls))
            self._degrees[key] = degree(error, calls, failure)
            self._lines[key] = error.frame[2] if isinstance(error, LearnerError) else ""
        return self._degrees[key]

    def nearest(self, versions: list[WrongVersion], failure: Failure) -> list[WrongVersion]:
        """Those of these versions that raised the error on the line most like the learner's; all for a wrong answer."""
        if not isinstance(failure.error, LearnerError):
            return versions
        line = failure.error.frame[2]
        alike = {one: likeness(self._lines.get((one, failure.check.id), ""), line) for one in versions}
        return [version for version in versions if alike[version] == max(alike.values())]

    def run(self, version: WrongVersion, check: Check) -> tuple[BaseException | None, list[Call]]:
        """The error and the calls of a check on a wrong version. A cached run is not repeated."""
        key = (version.name, check.id)
        run = self._runs.get(key)
        if run is None:
            run = self.session.run(check, Learner(version.connection))
            self._runs.put(key, run)
        return run
