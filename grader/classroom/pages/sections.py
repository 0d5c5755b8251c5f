"""The parts of the page of a class that are computed before the template shows them."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from markupsafe import Markup

from grader.classroom import analysis
from grader.classroom.analysis import Lesson
from grader.classroom.grades import number
from grader.classroom.handins import Student
from grader.classroom.pages.charts import histogram
from grader.classroom.rows import ALL_PASSED, NOT_GRADED, NOT_LOADED, NOT_STARTED, Kind, Row
from grader.classroom.similar import Agreement, Pair, clusters
from grader.classroom.summary import Distribution, Summary


@dataclass(frozen=True)
class Mistake:
    """A diagnosis. count: how many students got it; among: how many handed in the exercise."""

    title: str
    sentence: str
    count: int
    among: int

    @property
    def short(self) -> str:
        """The diagnosis in a list of choices."""
        return f"{self.title[:2]}: {self.sentence}"[:120]


@dataclass(frozen=True)
class Topic:
    """A topic to teach again. exercises: their numbers; example: a sentence that a student read, and where."""

    title: str
    count: int
    exercises: str
    example: str
    where: str
    again: str


@dataclass(frozen=True)
class Panel:
    """One exercise in the class."""

    title: str
    counts: str
    histogram: Markup


@dataclass(frozen=True)
class Likeness:
    """An exercise in which the files of two students agree. score: the share, 0 to 1; where: the lines; code: them."""

    title: str
    score: float
    where: str
    code: tuple[Agreement, ...]


@dataclass(frozen=True)
class Group:
    """A cluster of similar files. pairs: each two students, with the exercises in which they agree."""

    students: tuple[Student, ...]
    pairs: list[tuple[tuple[Student, Student], list[Likeness]]]


def mistakes(summary: Summary, common: Sequence[Kind], distributions: Sequence[Distribution]) -> list[Mistake]:
    """The diagnoses in `common`, with their counts."""
    titles = titles_of(summary)
    return [
        Mistake(titles[exercise], sentence, summary.diagnoses[exercise, sentence], distributions[exercise].handed_in)
        for exercise, sentence in common
    ]


def topics(summary: Summary, to_teach: Sequence[Lesson]) -> list[Topic]:
    """The topics to teach again, in words."""
    titles, listed = titles_of(summary), []
    for lesson in to_teach:
        index, sentence = lesson.example
        numbers = ", ".join(sorted(titles[exercise][:2] for exercise in lesson.exercises))
        again = analysis.again(lesson.misconception)
        listed.append(
            Topic(lesson.misconception.title, len(lesson.students), numbers, sentence, titles[index][:2], again)
        )
    return listed


def exercises(summary: Summary, distributions: Sequence[Distribution]) -> list[Panel]:
    """A panel for each exercise."""
    panels = []
    for title, exercise, distribution in zip(titles_of(summary), summary.exercises, distributions):
        states = distribution.states
        counts = [
            f"{distribution.handed_in:,} of {len(summary.rows):,} handed in",
            f"{states[ALL_PASSED]:,} passed all",
            f"median {number(distribution.median, '–')} of {number(exercise.max_points)}",
        ]
        rare = {NOT_LOADED: "not loaded", NOT_STARTED: "not started", NOT_GRADED: "not graded"}
        counts += [f"{states[state]:,} {description}" for state, description in rare.items() if states[state]]
        panels.append(Panel(title, " · ".join(counts), histogram(distribution.bins, title)))
    return panels


def groups(summary: Summary, similar: Sequence[Pair]) -> list[Group]:
    """The clusters of similar files. similar: sorted, so that pairs of the same students are neighbours."""
    titles = dict(zip((exercise.folder for exercise in summary.exercises), titles_of(summary)))
    grouped = []
    for cluster in clusters(similar):
        two = itertools.groupby(cluster.pairs, lambda pair: (pair.student_a, pair.student_b))
        pairs = [
            (students, [_likeness(pair, titles.get(pair.exercise, pair.exercise)) for pair in members])
            for students, members in two
        ]
        grouped.append(Group(cluster.students, pairs))
    return grouped


def titles_of(summary: Summary) -> list[str]:
    """The exercises' numbers and titles."""
    return [f"{exercise.folder[:2]} {exercise.title}" for exercise in summary.exercises]


def address(row: Row) -> str:
    """The student's folder as a part of a web address."""
    return quote(row.student.id, safe="", errors="replace")


def _likeness(pair: Pair, title: str) -> Likeness:
    agreements = tuple(
        agreement for agreement in pair.evidence if isinstance(agreement, Agreement) and any(agreement.code)
    )
    return Likeness(title, pair.score, "; ".join(map(str, pair.evidence)) or "all of it", agreements)
