"""class.html: the results of a class on one page, for the instructor. The page needs no other file."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from grader.catalog import paths
from grader.classroom import analysis, handins
from grader.classroom.analysis import Lesson
from grader.classroom.analysis import spread as spread_of
from grader.classroom.grades import number
from grader.classroom.handins import Class, Found, Student
from grader.classroom.similar import Agreement, Pair
from grader.classroom.similar import clusters as find_clusters
from grader.classroom.summary import (
    ABSENT,
    ALL_PASSED,
    NO_PAST,
    NOT_GRADED,
    NOT_LOADED,
    NOT_STARTED,
    Distribution,
    Kind,
    Past,
    Row,
    Summary,
    commonest,
    tenths,
)
from grader.classroom.week import Week
from grader.records.sanitize import inert
from grader.reports.templating import document, escape

BAR, GAP, HEIGHT, FLOOR = 18, 4, 72, 88  # of a histogram, in its own units
BIN_NAMES = (*(f"{low} to {low + 9} %" for low in range(0, 100, 10)), "all points")
FEEDBACK = "feedback.html"
MOST_DIAGNOSES = 30  # that are listed and can be chosen as filters
MOST_OPEN, MOST_CHECKS, MOST_TROUBLES, MOST_NAMED, MOST_TAUGHT, MOST_NEEDS = 10, 15, 10, 8, 8, 20
MOST_PASSED = 200  # files without a mark that the page lists; ledger.csv has all
MOST_PAIRS, MOST_MEMBERS, MOST_PIECES = 200, 30, 4  # clusters; students and pairs of one; pieces of code of a pair
MOST = {
    "open": MOST_OPEN, "named": MOST_NAMED, "taught": MOST_TAUGHT, "needing": handins.MOST_LISTED,
    "pairs": MOST_PAIRS, "members": MOST_MEMBERS, "pieces": MOST_PIECES, "passed": MOST_PASSED,
}  # fmt: skip
FAR_BELOW = 0.5  # a total below this share of the median needs attention


def histogram(bins: Sequence[int], title: str) -> Markup:
    """A bar chart of the students by their share of the points. bins: as summary.tenths counts them."""
    largest = max(bins) or 1
    counts = [(name, count) for name, count in zip(BIN_NAMES, bins) if count]
    spoken = ", ".join(f"{name}: {count}" for name, count in counts) or "no points yet"
    width = len(bins) * (BAR + GAP)
    shapes = []
    for index, (name, count) in enumerate(zip(BIN_NAMES, bins)):
        x, height = index * (BAR + GAP), round(HEIGHT * count / largest, 2)
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
    for index, (title, exercise) in enumerate(zip(titles_of(summary), summary.exercises)):
        distribution = distributions[index]
        states = distribution.states
        counts = [
            f"{distribution.handed_in:,} of {len(summary.rows):,} handed in",
            f"{states[ALL_PASSED]:,} passed all",
            f"median {number(distribution.median, '–')} of {number(exercise.max_points)}",
        ]
        rare = {NOT_LOADED: "not loaded", NOT_STARTED: "not started", NOT_GRADED: "not graded"}
        spread = spread_of([row.points[index] for row in summary.rows if row.points[index] is not None])
        if spread and spread.count >= analysis.LEAST:
            quartiles = f"{number(round(spread.lower, 2))} to {number(round(spread.upper, 2))}"
            counts.append(f"middle half {quartiles} · SD {spread.deviation:.2f}")
        counts += [f"{states[state]:,} {description}" for state, description in rare.items() if states[state]]
        panels.append(Panel(title, " · ".join(counts), histogram(distribution.bins, title)))
    return panels


def group_similar(summary: Summary, similar: Sequence[Pair]) -> list[Group]:
    """The clusters of similar files. similar: sorted, so that pairs of the same students are neighbours."""
    titles = dict(zip((exercise.folder for exercise in summary.exercises), titles_of(summary)))
    grouped = []
    for cluster in find_clusters(similar):
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


def class_page(klass: Class, pairs: Sequence[Pair] = ()) -> str:
    """The page of a class. pairs: similar submissions, for a person to judge."""
    return render(Summary.of(klass), pairs)


def render(
    summary: Summary,
    pairs: Sequence[Pair] = (),
    submissions: Found | None = None,
    ungraded: int = 0,
    linked: bool = True,
    past: Past = NO_PAST,
    week: Week | None = None,
) -> str:
    """The page of a summary.

    submissions: all that was handed in; ungraded: how many files could not be graded; linked: students lead to their
    pages, which pseudonyms do not have; past: what earlier runs tell; week: a part of the
    term that is shown beside the whole.
    """
    common = [kind for kind, _ in commonest(summary.diagnoses, MOST_DIAGNOSES)]
    groups, taught, checks = attention(summary), analysis.to_teach(summary), analysis.checks(summary)
    clusters, spread = group_similar(summary, pairs), spread_of(summary.totals())
    distributions = [summary.distribution(index) for index in range(len(summary.exercises))]
    return document(
        "classroom/pages/templates/class.html",
        "Results of the class",
        script=paths.module("classroom/pages/class_page.js").read_text("utf-8"),
        style=paths.module("classroom/pages/class_page.css").read_text("utf-8"),
        facts=_facts(summary),
        groups=groups,
        topics=topics(summary, taught),
        needs=analysis.ranked(summary, past.stuck, MOST_NEEDS),
        mistakes=mistakes(summary, common, distributions),
        exercises=exercises(summary, distributions),
        spread=spread,
        totals=histogram(tenths(summary.totals(), summary.max_points), "Totals"),
        max_points=number(summary.max_points),
        runs=past.runs,
        hardest=analysis.hardest(checks, MOST_CHECKS),
        least_tried=analysis.least_tried(checks),
        checks=checks,
        troubles=commonest(summary.troubles, MOST_TROUBLES),
        week=week and _week(week, past),
        progress=[run for run in past.runs if run.same >= analysis.LEAST and run.before != run.after],
        clusters=clusters,
        hidden=_hidden(clusters),
        files=handins.sum_line(submissions.count, "graded", ungraded)
        if submissions and submissions.count.found
        else "",
        needs_person=submissions.needs_person if submissions else (),
        unplaced=submissions.unplaced if submissions else (),
        passed=submissions.passed if submissions else (),
        to_place=handins.TO_PLACE,
        titles=titles_of(summary),
        rows={row.student.id: row for row in summary.rows},
        data=_data(summary, groups, common, taught, linked),
        linked=linked,
        noted=[row for row in summary.rows if row.late or row.notes],
        most=MOST,
        address=address,
        listed=handins.listed,
        feedback=FEEDBACK,
    )


@dataclass(frozen=True)
class WeekPanel:
    """A part of the term in words. handed_in: hand-ins; titles: of its exercises."""

    words: str
    remark: str
    handed_in: int
    titles: list[str]
    topics: list[Topic]
    needs: list[analysis.Need]
    hardest: list[analysis.Difficulty]


def _week(week: Week, past: Past) -> WeekPanel:
    """What the page shows of a part of the term."""
    checks = analysis.checks(week.fresh)
    return WeekPanel(
        week.words,
        week.remark,
        sum(len(row.states) - row.states.count(ABSENT) for row in week.fresh.rows),
        titles_of(week.fresh),
        topics(week.fresh, analysis.to_teach(week.fresh)),
        analysis.ranked(week.whole, week.stuck(past), MOST_NEEDS),
        analysis.hardest(checks, MOST_CHECKS),
    )


def attention(summary: Summary) -> dict[str, list[Row]]:
    """The students who need attention, by the reason. A student may have several reasons."""
    rows, median = summary.rows, summary.median()
    groups = {
        "not graded: see the reasons below, and grade again": [row for row in rows if NOT_GRADED in row.states],
        "handed in nothing": [row for row in rows if not row.handed_in],
        "handed in a file that could not be loaded": [row for row in rows if NOT_LOADED in row.states],
        "handed in an untouched file": [row for row in rows if NOT_STARTED in row.states],
    }
    if median:
        reason = f"far below the class: less than half of the median of {number(median)} points"
        groups[reason] = [
            row for row in rows if row.handed_in and row.total is not None and row.total < FAR_BELOW * median
        ]
    return {reason: members for reason, members in groups.items() if members}


def _short(count: int) -> str:
    """A number that fits over a bar: "870", "3.1k"."""
    return str(count) if count < 1000 else f"{count / 1000:.1f}k"


def _likeness(pair: Pair, title: str) -> Likeness:
    agreements = tuple(
        agreement for agreement in pair.evidence if isinstance(agreement, Agreement) and any(agreement.code)
    )
    return Likeness(title, pair.score, "; ".join(map(str, pair.evidence)) or "all of it", agreements)


def _facts(summary: Summary) -> list[tuple[str, str]]:
    """The numbers at the top of the page, each with its words."""
    rows = summary.rows
    possible = len(rows) * len(summary.exercises)
    absent = sum(row.states.count(ABSENT) for row in rows)
    return [
        (f"{len(rows):,}", "students"),
        (f"{possible - absent:,} of {possible:,}", "exercises handed in"),
        (f"{sum(row.states.count(ALL_PASSED) for row in rows):,}", "of them all passed"),
        (number(summary.median(), "–"), f"of {number(summary.max_points)} points: the median of who handed in"),
    ]


def _data(
    summary: Summary, groups: dict[str, list[Row]], common: Sequence[Kind], taught: Sequence[Lesson], linked: bool
) -> dict[str, Any]:
    """The table as JSON for the page's script. The template does not see the names, so they are made inert here."""
    numbers = {kind: index for index, kind in enumerate(common)}
    members: dict[int, list[int]] = {}
    for index, rows in enumerate(groups.values()):
        for row in rows:
            members.setdefault(id(row), []).append(index)
    topics: dict[int, list[int]] = {}
    for index, lesson in enumerate(taught):
        for number_ in lesson.students:
            topics.setdefault(number_, []).append(index)
    return {
        "feedback": FEEDBACK,
        "max": summary.max_points,
        "exercises": [[exercise.folder[:2], exercise.title, exercise.max_points] for exercise in summary.exercises],
        "rows": [
            [
                inert(row.student.id),
                "" if row.student.name == row.student.id else inert(row.student.name),
                address(row) if linked else "",
                row.points,
                row.total,
                row.states,
                members.get(id(row), ()),
                [numbers[kind] for kind in row.diagnoses if kind in numbers],
                topics.get(place, ()),
                row.by_hand,
            ]
            for place, row in enumerate(summary.rows)
        ],
    }


def _hidden(clusters: Sequence[Group]) -> int:
    """The number of pairs that the page does not show."""
    pair_count = sum(len(cluster.pairs) for cluster in clusters)
    return pair_count - sum(min(len(cluster.pairs), MOST_MEMBERS) for cluster in clusters[:MOST_PAIRS])
