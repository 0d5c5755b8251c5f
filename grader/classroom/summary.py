"""Sums up the results of a class: a small row for each student, counts, earlier runs. No result is kept."""

import copy
import statistics
from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from grader import catalog
from grader.classroom import marking
from grader.classroom.handins import Class, Student
from grader.classroom.marking import PLAIN, Mark, TotalRule, maximum
from grader.records.results import ERROR, FAILED, FIX_FIRST, NOT_CHECKED, PASSED, ExerciseResult

# The state of one student's exercise, one letter each, so that a row stays small.
ALL_PASSED, SOME_FAILED, NOT_LOADED, NOT_STARTED, NOT_GRADED, ABSENT = "p", "f", "e", "n", "u", "-"
CHECK_PASSED, CHECK_FAILED, CHECK_LEFT_OUT = "p", "f", "-"  # the outcome of one check, likewise
OUTCOMES = {PASSED: CHECK_PASSED, FAILED: CHECK_FAILED, NOT_CHECKED: CHECK_LEFT_OUT}
Kind = tuple[int, str]  # the index of an exercise, and a sentence about a submission
MAX_KINDS = 5000  # different sentences that are counted: learners' code can choose some of them
BINS = 11  # tenths of the points, and all of them


@dataclass(frozen=True, slots=True)
class Row:
    """One student: points (None: not handed in, or not graded) and state of each exercise, in order.

    total: by the rule of the course; None where an exercise could not be graded, since the sum would be too low. late:
    what came late; notes: what else an instructor must know. outcomes: of the checks of each exercise, in order, a
    letter each; "" where the file could not be run or was untouched. by_hand: the indices of the exercises for which a
    person gave points; unplaced: of those without a hand-in because a file could not be placed, which is not the
    student's idleness.
    """

    student: Student
    points: tuple[float | None, ...]
    states: str
    diagnoses: tuple[Kind, ...] = ()
    total: float | None = None
    late: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    outcomes: tuple[str, ...] = ()
    by_hand: tuple[int, ...] = ()
    unplaced: tuple[int, ...] = ()

    @property
    def handed_in(self) -> bool:
        """Whether the student handed in something."""
        return any(state != ABSENT for state in self.states)


def state_of(result: ExerciseResult) -> str:
    """The state that a result stands for."""
    if result.status == ERROR:
        return NOT_LOADED
    if not result.started:
        return NOT_STARTED
    return ALL_PASSED if result.status == PASSED else SOME_FAILED


def words_of(marks: Mapping[str, Mark]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Notes on what is late, and other notes on the marks, each with the number of its exercise."""
    late = tuple(f"{folder[:2]}: {mark.late.words}" for folder, mark in sorted(marks.items()) if mark.late.words)
    notes = (
        f"{folder[:2]}: {remark}"
        for folder, mark in sorted(marks.items())
        for remark in (*(override.words for override in mark.overrides), *mark.notes)
    )
    return late, tuple(notes)


@dataclass(frozen=True)
class Distribution:
    """One exercise in the class.

    bins: how many students have 0 to 9 % of the points, …, 90 to 99 %, all points; states: how many have which state.
    """

    handed_in: int
    bins: tuple[int, ...]
    median: float | None
    states: Counter[str]


class Summary:
    """The sums of a class. Call `add` once for each student, then read. exercises: their folders; rule: of totals."""

    def __init__(self, exercises: Iterable[str], rule: TotalRule = PLAIN) -> None:
        self.exercises = tuple(catalog.find(folder) for folder in exercises)
        self.rule = rule
        self._folders = [exercise.folder for exercise in self.exercises]
        self._most = [exercise.max_points for exercise in self.exercises]
        self.titles: dict[tuple[int, str], str] = {}  # of the checks, by exercise and id
        self.diagnoses: Counter[Kind] = Counter()  # students
        self.troubles: Counter[Kind] = Counter()  # files that could not be loaded or graded
        self._index = {exercise.folder: index for index, exercise in enumerate(self.exercises)}
        self._texts: dict[str, str] = {}
        self._kinds: dict[Kind, Kind] = {}  # so that all rows with the same sentence share one string
        self._rows: list[Row] = []
        self._sorted = True

    @classmethod
    def of(cls, klass: Class) -> "Summary":
        """The sums of a whole class."""
        summary = cls(klass.exercises)
        for student in klass.students:
            summary.add(student, klass.of(student))
        return summary

    @property
    def rows(self) -> list[Row]:
        """The rows, sorted by student."""
        if not self._sorted:
            self._rows.sort(key=lambda row: row.student)
            self._sorted = True
        return self._rows

    @property
    def max_points(self) -> float:
        """The most points that a total can have."""
        return maximum(self._folders, self._most, self.rule)

    def add(
        self,
        student: Student,
        results: Iterable[ExerciseResult],
        ungraded: Mapping[str, str] | None = None,
        marks: Mapping[str, Mark] | None = None,
        notes: Iterable[str] = (),
        unplaced: Collection[str] = (),
    ) -> Row:
        """Count one student. ungraded: exercise folder → why there is no result; marks: by the rules of the course.

        unplaced: the exercises of which a file could not be placed; "" for any that has no hand-in.
        """
        points: list[float | None] = [None] * len(self.exercises)
        states = [ABSENT] * len(self.exercises)
        outcomes = [""] * len(self.exercises)
        diagnoses: set[Kind] = set()
        by_hand = []
        for result in results:
            index = self._index[result.exercise]
            points[index], states[index] = result.points, state_of(result)
            if states[index] == NOT_LOADED:
                _count(self.troubles, (index, _first_line(result.message.replace(result.submission, "the file"))))
            elif states[index] != NOT_STARTED:
                outcomes[index] = self._outcomes(index, result)
                named = {check.diagnosis for check in result.checks if check.diagnosis}
                # What only follows from a mistake in another function is no mistake of its own.
                diagnoses |= {(index, sentence) for sentence in named if FIX_FIRST not in sentence}
        ungraded_notes = []
        for exercise, reason in (ungraded or {}).items():
            index = self._index[exercise]
            points[index], states[index] = None, NOT_GRADED
            _count(self.troubles, (index, f"not graded: {_first_line(reason)}"))
            ungraded_notes.append(f"{exercise[:2]}: not graded: {_first_line(reason)}")
        for exercise, mark in (marks or {}).items():
            if exercise not in self._index:
                continue
            index = self._index[exercise]
            if mark.points is not None and states[index] in (ABSENT, NOT_GRADED):  # a person set the points
                states[index] = ALL_PASSED if mark.points >= self._most[index] else SOME_FAILED
            points[index] = mark.points
            if mark.overrides:
                by_hand.append(index)
        _count(self.diagnoses, *diagnoses)
        shared = tuple(self._kinds.setdefault(kind, kind) for kind in sorted(diagnoses) if kind in self.diagnoses)
        total = None if NOT_GRADED in states else marking.total(self._folders, points, self._most, self.rule)
        late, said = words_of(marks or {})
        all_notes = (*said, *ungraded_notes, *notes)
        hands = tuple(sorted(by_hand))
        lost = tuple(
            index
            for index, folder in enumerate(self._folders)
            if states[index] == ABSENT and ("" in unplaced or folder in unplaced)
        )
        row = Row(student, tuple(points), "".join(states), shared, total, late, all_notes, tuple(outcomes), hands, lost)
        self._rows.append(row)
        self._sorted = False
        return row

    def rename(self, students: Mapping[str, Student]) -> "Summary":
        """The same sums with other students in the rows. students: by the id that they replace."""
        summary = copy.copy(self)
        summary._rows = [replace(row, student=students[row.student.id], notes=()) for row in self._rows]
        summary._sorted = False
        return summary

    def only(self, folders: Sequence[str], handins: Container[tuple[str, str]] | None = None) -> "Summary":
        """The sums of these exercises alone, in points as they are. handins: (student's id, exercise); None: all.

        A hand-in that is not among them is taken as missing. The reasons why files could not be loaded are left out.
        """
        part = Summary(folders)
        places = [self._index[exercise.folder] for exercise in part.exercises]
        new_index = {place: index for index, place in enumerate(places)}
        part.titles = {(new_index[i], name): title for (i, name), title in self.titles.items() if i in new_index}
        for row in self.rows:
            kept = [handins is None or (row.student.id, self._folders[place]) in handins for place in places]
            counts = {place for place, is_kept in zip(places, kept) if is_kept}
            points = tuple(row.points[place] if place in counts else None for place in places)
            states = "".join(row.states[place] if place in counts else ABSENT for place in places)
            kinds = tuple(sorted((new_index[i], sentence) for i, sentence in row.diagnoses if i in counts))
            total = None if NOT_GRADED in states else marking.total(part._folders, points, part._most)
            outcomes = tuple(row.outcomes[place] if place in counts else "" for place in places)
            by_hand = tuple(sorted(new_index[place] for place in row.by_hand if place in counts))
            lost = tuple(sorted(new_index[place] for place in row.unplaced if place in new_index))
            part._rows.append(Row(row.student, points, states, kinds, total, (), (), outcomes, by_hand, lost))
            part.diagnoses.update(kinds)
        return part

    def distribution(self, index: int) -> Distribution:
        """The distribution of the points of the exercise with this index."""
        states = Counter(row.states[index] for row in self._rows)
        points = [row_points for row in self._rows if (row_points := row.points[index]) is not None]
        median = statistics.median(points) if points else None
        bins = tenths(points, self.exercises[index].max_points)
        return Distribution(len(self._rows) - states[ABSENT], bins, median, states)

    def totals(self) -> list[float]:
        """The totals of all students who handed in something."""
        return [row.total for row in self._rows if row.handed_in and row.total is not None]

    def median(self) -> float | None:
        """The median of the totals."""
        totals = self.totals()
        return statistics.median(totals) if totals else None

    def _outcomes(self, index: int, result: ExerciseResult) -> str:
        """The outcomes of the checks. Equal texts are one object, so that a large class stays small."""
        letters = {check.id: OUTCOMES[check.outcome] for check in result.checks}
        self.titles.update(((index, check.id), check.title) for check in result.checks)
        text = "".join(letters.get(name, CHECK_LEFT_OUT) for name in self.exercises[index].points)
        return self._texts.setdefault(text, text)


def commonest(counts: Counter[Kind], count: int) -> list[tuple[Kind, int]]:
    """The `count` most frequent, sorted by frequency, then exercise and sentence, so that a page is always the same."""
    return sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))[:count]


def tenths(totals: Sequence[float], max_points: float) -> tuple[int, ...]:
    """The numbers of totals that are 0 to 9 % of `max_points`, …, 90 to 99 %, and 100 %."""
    bins = [0] * BINS
    for total in totals:
        share = total / max_points if max_points else 1.0
        bins[max(0, min(int(share * 10 + 1e-9), BINS - 1))] += 1
    return tuple(bins)


@dataclass(frozen=True)
class Stuck:
    """A student's last attempts at an exercise, which passed the same checks. since: when the first of them came."""

    exercise: str
    attempts: int
    since: datetime


@dataclass(frozen=True)
class Run:
    """The state of the class after a run. handed_in: exercises of all students.

    same: how many of them the run before had too, by the same checks; before, after: their share of the points, 0 to 1.
    """

    time: datetime
    students: int
    handed_in: int
    same: int = 0
    before: float = 0.0
    after: float = 0.0

    def is_news(self, last: "Run | None") -> bool:
        """Whether the class is in another state than after the last run."""
        counts = last and (last.students, last.handed_in)
        return counts != (self.students, self.handed_in) or self.before != self.after


@dataclass(frozen=True)
class Past:
    """The facts of earlier runs that the page of a class shows. stuck: by student's id."""

    stuck: Mapping[str, Sequence[Stuck]] = field(default_factory=dict)
    runs: Sequence[Run] = ()

    def rename(self, ids: Mapping[str, str]) -> "Past":
        """The same under other ids."""
        return Past({ids[id]: stuck for id, stuck in self.stuck.items() if id in ids}, self.runs)


NO_PAST = Past()


def run_facts(summary: Summary, time: datetime) -> Run:
    """The present state of the class."""
    absent = sum(row.states.count(ABSENT) for row in summary.rows)
    handed_in = len(summary.rows) * len(summary.exercises) - absent
    return Run(time, len(summary.rows), handed_in)


def stuck(
    attempts: Iterable[tuple[str, str, Sequence[tuple[datetime, str | None]]]],
    result: Callable[[str], ExerciseResult | None],
) -> dict[str, list[Stuck]]:
    """The students, by id, whose last two or more attempts passed the same checks, and not all of them.

    attempts: student, exercise, and for each attempt in order when it came and the key of its result; result: gives the
    result with a key.
    """
    by_student: dict[str, list[Stuck]] = {}
    for student, exercise, tries in attempts:
        reached, count = None, 0
        for _, key in reversed(tries):
            current_result = result(key) if key else None
            if (
                current_result is None
                or current_result.status == PASSED
                or (count and _passed(current_result) != reached)
            ):
                break
            reached, count = _passed(current_result), count + 1
        if count > 1:
            by_student.setdefault(student, []).append(Stuck(exercise, count, tries[-count][0]))
    return by_student


def _count(counts: Counter[Kind], *kinds: Kind) -> None:
    """Count each kind once. Beyond MAX_KINDS no new kind is counted, so that no class can fill the memory."""
    counts.update(kind for kind in kinds if kind in counts or len(counts) < MAX_KINDS)


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0][:300]


def _passed(result: ExerciseResult) -> frozenset[str]:
    return frozenset(check.id for check in result.checks if check.outcome == PASSED)
