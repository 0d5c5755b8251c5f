"""Sums up a class: a row for each student, the misconceptions, the hardest checks. No result is kept."""

import statistics
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from grader import catalog
from grader.catalog import mistakes
from grader.catalog.exercise import Misconception
from grader.classroom.marks import GRADED, NOT_BEGUN, Mark, Student
from grader.records.causes import known_sentences
from grader.records.results import FAILED, FIX_FIRST, PASSED, ExerciseResult

LEAST = 5  # files below which a share says nothing of a class, unless it has no more
Kind = tuple[int, str]  # the index of an exercise, and a sentence about a submission


class Row(NamedTuple):
    """One student. marks: for each exercise in order; None: a file that needs a person may be it."""

    student: Student
    marks: tuple[Mark | None, ...]


class Counts(NamedTuple):
    handed_in: int
    passed_all: int
    not_begun: int
    median: float | None


class Check(NamedTuple):
    """One check in the class, among the files on which it was tried. share: of those that failed it."""

    exercise: str
    title: str
    failed: int
    tried: int
    share: float


class Topic(NamedTuple):
    """A misconception in the class. students: how many showed it; exercises: in which, their numbers.

    example: the sentence that most of them read, and the number of its exercise; again: the lesson to show again.
    """

    title: str
    students: int
    exercises: tuple[str, ...]
    example: tuple[str, str]
    again: str


class Summary:
    """The sums of a class. Call `add` once for each student, then read. exercises: their folders."""

    def __init__(self, exercises: Sequence[str]) -> None:
        self.exercises = tuple(catalog.find(folder) for folder in exercises)
        self.rows: list[Row] = []
        self._index = {folder: index for index, folder in enumerate(exercises)}
        self._tried: defaultdict[tuple[int, str], Counter[str]] = defaultdict(Counter)  # outcomes, by check
        self._titles: dict[tuple[int, str], str] = {}
        self._kinds: defaultdict[Kind, set[str]] = defaultdict(set)  # the students who read a sentence

    def add(self, student: Student, marks: Sequence[Mark], results: Sequence[ExerciseResult]) -> None:
        """Count one student, with the marks for the exercises and the results behind them."""
        by_exercise = {mark.exercise: mark for mark in marks}
        self.rows.append(Row(student, tuple(by_exercise.get(exercise.folder) for exercise in self.exercises)))
        for result in results:
            if not result.started:
                continue
            index = self._index[result.exercise]
            for check in result.checks:
                self._tried[index, check.id][check.outcome] += 1
                self._titles[index, check.id] = check.title
                # What only follows from a mistake in another function is no mistake of its own.
                if check.diagnosis and FIX_FIRST not in check.diagnosis:
                    self._kinds[index, check.diagnosis].add(student.id)

    def counts(self, index: int) -> Counts:
        marks = [mark for row in self.rows if (mark := row.marks[index]) and mark.status in (GRADED, NOT_BEGUN)]
        points = [mark.points for mark in marks if mark.points is not None]
        most = self.exercises[index].max_points
        return Counts(
            len(marks),
            sum(given >= most for given in points),
            sum(mark.status == NOT_BEGUN for mark in marks),
            statistics.median(points) if points else None,
        )

    def hardest(self, count: int) -> list[Check]:
        """The checks that the largest share of the files failed on which they were tried."""
        checks = []
        for (index, id), outcomes in self._tried.items():
            failed, tried = outcomes[FAILED], outcomes[FAILED] + outcomes[PASSED]
            if failed:
                number = self.exercises[index].folder[:2]
                checks.append(Check(number, self._titles[index, id], failed, tried, failed / tried))
        least = min(LEAST, max((check.tried for check in checks), default=0))
        checks = [check for check in checks if check.tried >= least]
        return sorted(checks, key=lambda one: (-one.share, -one.failed, one.exercise, one.title))[:count]

    def to_teach(self) -> list[Topic]:
        """The misconceptions that somebody showed, that of most students first.

        A student counts once for each, however many exercises and checks show it.
        """
        students: defaultdict[str, set[str]] = defaultdict(set)
        kinds: defaultdict[str, Counter[Kind]] = defaultdict(Counter)
        for (index, diagnosis), readers in self._kinds.items():
            known = mistakes.misconceptions_of_sentences(self.exercises[index].folder)
            for sentence in known_sentences(diagnosis):
                if sentence in known:
                    students[known[sentence].id] |= readers
                    kinds[known[sentence].id][index, sentence] += len(readers)
        topics = []
        for id, one in mistakes.misconceptions().items():
            if kinds[id]:
                index, sentence = min(kinds[id], key=lambda kind: (-kinds[id][kind], kind))
                numbers = tuple(sorted({self.exercises[at].folder[:2] for at, _ in kinds[id]}))
                example = sentence, self.exercises[index].folder[:2]
                topics.append(Topic(one.title, len(students[id]), numbers, example, self._again(one, index)))
        return sorted(topics, key=lambda topic: -topic.students)

    def _again(self, known: Misconception, index: int) -> str:
        """What to show again: the lesson and its section, “…”, if the class has come so far; else the exercise."""
        usual = {exercise.folder for exercise in catalog.for_class()}
        lesson = catalog.find(known.lesson)
        if lesson.folder[:2] <= self.exercises[-1].folder[:2] and lesson.folder in usual:
            return f"{lesson.folder[:2]} {lesson.title}, “{known.section}”"
        exercise = self.exercises[index]
        return f"{exercise.folder[:2]} {exercise.title}"
