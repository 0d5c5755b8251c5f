"""The parts of the page of a class that are computed before the template shows them."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from markupsafe import Markup

from grader.classroom.grades import number
from grader.classroom.handins import Student
from grader.classroom.similar import Pair
from grader.classroom.summary import ALL_PASSED, NOT_GRADED, NOT_LOADED, NOT_STARTED, Distribution, Kind, Row, Summary
from grader.reports.templating import escape

BAR, GAP, HEIGHT, FLOOR = 18, 4, 72, 88  # of a histogram, in its own units
BIN_NAMES = (*(f"{low} to {low + 9} %" for low in range(0, 100, 10)), "all points")


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
class Panel:
    """One exercise in the class."""

    title: str
    counts: str
    histogram: Markup


@dataclass(frozen=True)
class Likeness:
    """An exercise in which the files of two students agree. score: the share, 0 to 1; where: the lines."""

    title: str
    score: float
    where: str


def mistakes(summary: Summary, common: Sequence[Kind], distributions: Sequence[Distribution]) -> list[Mistake]:
    """The diagnoses in `common`, with their counts."""
    titles = titles_of(summary)
    return [
        Mistake(titles[exercise], sentence, summary.diagnoses[exercise, sentence], distributions[exercise].handed_in)
        for exercise, sentence in common
    ]


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
        counts += [f"{states[state]:,} {words}" for state, words in rare.items() if states[state]]
        panels.append(Panel(title, " · ".join(counts), histogram(distribution, title)))
    return panels


def histogram(distribution: Distribution, title: str) -> Markup:
    """How many students have which share of the points, as an inline SVG for screen readers too."""
    most = max(distribution.bins) or 1
    counts = [(name, count) for name, count in zip(BIN_NAMES, distribution.bins) if count]
    spoken = ", ".join(f"{name}: {count}" for name, count in counts) or "no points yet"
    width = len(distribution.bins) * (BAR + GAP)
    shapes = []
    for index, (name, count) in enumerate(zip(BIN_NAMES, distribution.bins)):
        x, height = index * (BAR + GAP), round(HEIGHT * count / most, 2)
        shape = f'<rect x="{x}" y="{FLOOR - height}" width="{BAR}" height="{height}"/>'
        text = f'<text x="{x + BAR / 2}" y="{FLOOR - height - 3}">{_short(count)}</text>' if count else ""
        shapes.append(f"<g><title>{name}: {count} students</title>{shape}{text}</g>")
    return Markup(  # written by hand: every shape is placed by arithmetic, which a template would hide
        f'<svg viewBox="0 0 {width} {FLOOR + 16}" role="img" class="histogram" '
        f'aria-label="{escape(f"{title}, students by share of the points: {spoken}")}">'
        f'{"".join(shapes)}<line x1="0" y1="{FLOOR}" x2="{width}" y2="{FLOOR}"/>'
        f'<text x="0" y="{FLOOR + 13}" class="start">0 %</text>'
        f'<text x="{width - GAP}" y="{FLOOR + 13}" class="end">all</text></svg>'
    )


def pairs(summary: Summary, similar: Sequence[Pair]) -> list[tuple[tuple[Student, Student], list[Likeness]]]:
    """Each two students with their pairs. similar: sorted, so that pairs of the same students are neighbours."""
    titles = dict(zip((exercise.folder for exercise in summary.exercises), titles_of(summary)))
    groups = itertools.groupby(similar, lambda pair: (pair.student_a, pair.student_b))
    return [
        (students, [_likeness(pair, titles.get(pair.exercise, pair.exercise)) for pair in members])
        for students, members in groups
    ]


def titles_of(summary: Summary) -> list[str]:
    """The exercises' numbers and titles."""
    return [f"{exercise.folder[:2]} {exercise.title}" for exercise in summary.exercises]


def address(row: Row) -> str:
    """The student's folder as a part of a web address."""
    return quote(row.student.id, safe="", errors="replace")


def _likeness(pair: Pair, title: str) -> Likeness:
    return Likeness(title, pair.score, "; ".join(map(str, pair.evidence)) or "all of it")


def _short(count: int) -> str:
    """A number that fits over a bar: "870", "3.1k"."""
    return str(count) if count < 1000 else f"{count / 1000:.1f}k"
