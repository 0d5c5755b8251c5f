"""What a class's results come to: one row a student, and counts. Takes one student at a time, and keeps no result."""

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from grader import catalog
from grader.classroom.handins import Class, Student
from grader.records.results import ERROR, FAILED, NOT_CHECKED, PASSED, ExerciseResult

# The state of one student's exercise, one letter each, so that a row stays small.
ALL_PASSED, SOME_FAILED, NOT_LOADED, NOT_STARTED, NOT_GRADED, ABSENT = "p", "f", "e", "n", "u", "-"
BINS = 11  # of a distribution: tenths of the points, and all of them
MAX_KINDS = 5000  # different sentences that are counted: learners' code has a say in them

Kind = tuple[int, str]  # the index of an exercise, and what is said of it


@dataclass(frozen=True, slots=True)
class Row:
    """One student: points (None: not handed in, or not graded) and state of each exercise, in order."""

    student: Student
    points: tuple[float | None, ...]
    states: str
    diagnoses: tuple["Kind", ...] = ()

    @property
    def total(self) -> float | None:
        """The sum of the points. None where an exercise could not be graded: a sum would be too low."""
        return None if NOT_GRADED in self.states else round(sum(filter(None, self.points)), 6)

    @property
    def handed_in(self) -> bool:
        return any(state != ABSENT for state in self.states)


@dataclass
class Tally:
    """How a check went in the class, among those whose file could be run."""

    exercise: int  # its index
    title: str
    passed: int = 0
    failed: int = 0
    not_checked: int = 0

    @property
    def tried(self) -> int:
        return self.passed + self.failed + self.not_checked


@dataclass(frozen=True)
class Distribution:
    """One exercise in the class. `bins`: how many have 0 to 9 % of the points, …, 90 to 99 %, all of them."""

    handed_in: int
    bins: tuple[int, ...]
    median: float | None
    states: Counter


class Summary:
    """The accumulator: `add` each student once, then read."""

    def __init__(self, exercises: Iterable[str]):
        self.exercises = tuple(catalog.find(folder) for folder in exercises)
        self.checks: dict[tuple[int, str], Tally] = {}
        self.diagnoses: Counter[Kind] = Counter()  # students
        self.troubles: Counter[Kind] = Counter()  # files that could not be loaded, or were not graded
        self._index = {exercise.folder: index for index, exercise in enumerate(self.exercises)}
        self._kinds: dict[Kind, Kind] = {}  # each sentence is kept once, however many rows have it
        self._rows: list[Row] = []
        self._sorted = True

    @classmethod
    def of(cls, klass: Class) -> "Summary":
        summary = cls(klass.exercises)
        for student in klass.students:
            summary.add(student, klass.of(student))
        return summary

    @property
    def rows(self) -> list[Row]:
        """By student, whatever the order in which they came."""
        if not self._sorted:
            self._rows.sort(key=lambda row: row.student)
            self._sorted = True
        return self._rows

    @property
    def max_points(self) -> float:
        return round(sum(exercise.max_points for exercise in self.exercises), 6)

    def add(
        self, student: Student, results: Iterable[ExerciseResult], ungraded: Mapping[str, str] | None = None
    ) -> Row:
        """Count one student. `ungraded`: what the grader could not do, exercise folder → reason."""
        points: list[float | None] = [None] * len(self.exercises)
        states = [ABSENT] * len(self.exercises)
        diagnoses: set[Kind] = set()
        for result in results:
            index = self._index[result.exercise]
            points[index], states[index] = result.points, _state(result)
            if states[index] == NOT_LOADED:
                _count(self.troubles, (index, _first_line(result.message.replace(result.submission, "the file"))))
            elif states[index] != NOT_STARTED:
                self._count_checks(index, result)
                diagnoses |= {(index, check.diagnosis) for check in result.checks if check.diagnosis}
        for exercise, reason in (ungraded or {}).items():
            index = self._index[exercise]
            points[index], states[index] = None, NOT_GRADED
            _count(self.troubles, (index, f"not graded: {_first_line(reason)}"))
        _count(self.diagnoses, *diagnoses)
        shared = tuple(self._kinds.setdefault(kind, kind) for kind in sorted(diagnoses) if kind in self.diagnoses)
        row = Row(student, tuple(points), "".join(states), shared)
        self._rows.append(row)
        self._sorted = False
        return row

    def distribution(self, index: int) -> Distribution:
        exercise, bins, found = self.exercises[index], [0] * BINS, []
        states = Counter(row.states[index] for row in self._rows)
        for row in self._rows:
            if row.points[index] is not None:
                found.append(row.points[index])
                share = row.points[index] / exercise.max_points if exercise.max_points else 1.0
                bins[min(int(share * 10 + 1e-9), BINS - 1)] += 1
        median = statistics.median(found) if found else None
        return Distribution(len(self._rows) - states[ABSENT], tuple(bins), median, states)

    def totals(self) -> list[float]:
        """The totals of all who handed something in."""
        return [row.total for row in self._rows if row.handed_in and row.total is not None]

    def median(self) -> float | None:
        totals = self.totals()
        return statistics.median(totals) if totals else None

    def hardest(self, most: int) -> list[Tally]:
        """The checks that the smallest share passed."""
        tallies = [tally for tally in self.checks.values() if tally.passed < tally.tried]
        return sorted(tallies, key=lambda tally: (tally.passed / tally.tried, -tally.failed, tally.exercise))[:most]

    def _count_checks(self, index: int, result: ExerciseResult) -> None:
        for check in result.checks:
            tally = self.checks.setdefault((index, check.id), Tally(index, check.title))
            tally.passed += check.outcome == PASSED
            tally.failed += check.outcome == FAILED
            tally.not_checked += check.outcome == NOT_CHECKED


def commonest(counts: Counter[Kind], most: int) -> list[tuple[Kind, int]]:
    """The most frequent first; ties by exercise and sentence, so that a page is the same each time."""
    return sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))[:most]


def _state(result: ExerciseResult) -> str:
    if result.status == ERROR:
        return NOT_LOADED
    if not result.started:
        return NOT_STARTED
    return ALL_PASSED if result.status == PASSED else SOME_FAILED


def _count(counts: Counter[Kind], *kinds: Kind) -> None:
    """Count each; beyond MAX_KINDS a new kind is left out, so that no class can fill the memory."""
    counts.update(kind for kind in kinds if kind in counts or len(counts) < MAX_KINDS)


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0][:300]
