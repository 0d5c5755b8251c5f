"""class.html: the results of a class on one page, for the instructor.

The page needs no other file, unless the class is very large: then it has the first rows of its table in it, and loads
the others from the folder beside it, so that it opens at once. What is listed beside the table is bounded.
"""

import itertools
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup

from grader.catalog import paths
from grader.classroom import analysis, handins, similar
from grader.classroom.analysis import Lesson, Week
from grader.classroom.analysis import spread as spread_of
from grader.classroom.grades import number, round_points
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
from grader.records.sanitize import inert
from grader.reports.templating import document, escape

BAR, GAP, HEIGHT, FLOOR = 18, 4, 72, 88  # of a histogram, in its own units
BIN_NAMES = (*(f"{low} to {low + 9} %" for low in range(0, 100, 10)), "all points")
FEEDBACK = "feedback.html"
MOST_DIAGNOSES = 30  # that are listed and can be chosen as filters
MOST_OPEN, MOST_CHECKS, MOST_TROUBLES, MOST_NAMED, MOST_TAUGHT, MOST_NEEDS = 10, 15, 10, 8, 8, 20
MOST_PASSED = 200  # files without a mark that the page lists; ledger.csv has all
MOST_NOTED = 200  # students with a note, and files that could not be placed, that are listed
MOST_PAIRS, MOST_MEMBERS, MOST_PIECES = 200, 30, 4  # clusters; students and pairs of one; pieces of code of a pair
MOST = {
    "open": MOST_OPEN, "named": MOST_NAMED, "taught": MOST_TAUGHT, "needing": handins.MOST_LISTED,
    "members": MOST_MEMBERS, "pieces": MOST_PIECES, "passed": MOST_PASSED, "noted": MOST_NOTED,
}  # fmt: skip
MOST_PAIR_TEXT = 500_000  # characters of all pairs with their code
ROWS = "class_rows"  # the folder with the rest of a large table
MOST_ROWS, MOST_PART = 500_000, 1_000_000  # characters of the rows in the page, and in one file of that folder
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
        shapes.append(f"<g><title>{name}: {handins.count_in_words(count, 'student')}</title>{shape}{text}</g>")
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
            f"median {round_points(distribution.median)} of {number(exercise.max_points)}",
        ]
        rare = {NOT_LOADED: "not loaded", NOT_STARTED: "not started", NOT_GRADED: "not graded"}
        spread = spread_of([points for row in summary.rows if (points := row.points[index]) is not None])
        if spread and spread.count >= analysis.LEAST:
            quartiles = f"{round_points(spread.lower)} to {round_points(spread.upper)}"
            counts.append(f"middle half {quartiles} · SD {spread.deviation:.2f}")
        counts += [f"{states[state]:,} {description}" for state, description in rare.items() if states[state]]
        panels.append(Panel(title, " · ".join(counts), histogram(distribution.bins, title)))
    return panels


def group_similar(summary: Summary, pairs: Sequence[Pair]) -> list[Group]:
    """The clusters of similar files. pairs: sorted, so that pairs of the same students are neighbours."""
    titles = dict(zip((exercise.folder for exercise in summary.exercises), titles_of(summary)))
    grouped = []
    for cluster in find_clusters(pairs):
        two = itertools.groupby(cluster.pairs, lambda pair: (pair.student_a, pair.student_b))
        of_cluster = [
            (students, [_likeness(pair, titles.get(pair.exercise, pair.exercise)) for pair in members])
            for students, members in two
        ]
        grouped.append(Group(cluster.students, of_cluster))
    return grouped


def shorten(groups: Sequence[Group]) -> tuple[list[Group], int]:
    """What the page shows of the clusters, and how many pairs it leaves out: the code first, then the weakest pairs."""
    shown, left = [], MOST_PAIR_TEXT
    for group in groups[:MOST_PAIRS]:
        pairs = []
        for students, likenesses in group.pairs[:MOST_MEMBERS]:
            code = sum(
                len(escape(text)) for one in likenesses for piece in one.code[:MOST_PIECES] for text in piece.code
            )
            words = sum(len(one.where) + len(one.title) for one in likenesses)
            if words > left:
                break
            with_code = words + code <= left
            left -= words + code * with_code
            pairs.append((students, likenesses if with_code else [replace(one, code=()) for one in likenesses]))
        if pairs:
            shown.append(Group(group.students, pairs))
    return shown, sum(len(group.pairs) for group in groups) - sum(len(group.pairs) for group in shown)


def split(rows: Sequence[Any], first: int) -> list[list[Any]]:
    """The rows in parts that are not too long: the first of so many characters, the others of MOST_PART each."""
    parts: list[list[Any]] = [[]]
    left = first
    for row in rows:
        length = len(htmlsafe_json_dumps(row))
        if length > left and (parts[-1] or len(parts) == 1):
            parts.append([])
            left = MOST_PART
        parts[-1].append(row)
        left -= length
    return parts


def titles_of(summary: Summary) -> list[str]:
    """The exercises' numbers and titles."""
    return [f"{exercise.folder[:2]} {exercise.title}" for exercise in summary.exercises]


def address(row: Row) -> str:
    """The student's folder as a part of a web address."""
    return quote(row.student.id, safe="", errors="replace")


def class_page(klass: Class, pairs: Sequence[Pair] = ()) -> str:
    """The page of a class, all in one. pairs: similar submissions, for a person to judge."""
    return render(Summary.of(klass), pairs, most_rows=sys.maxsize).text


@dataclass(frozen=True)
class Page:
    """A page, and the further rows of its table as the texts of the scripts that it loads."""

    text: str
    parts: tuple[str, ...] = ()


def render(
    summary: Summary,
    pairs: Sequence[Pair] = (),
    submissions: Found | None = None,
    ungraded: int = 0,
    linked: bool = True,
    past: Past = NO_PAST,
    week: Week | None = None,
    most_rows: int | None = None,
) -> Page:
    """The page of a summary.

    submissions: all that was handed in; ungraded: how many files could not be graded; linked: students lead to their
    pages, which pseudonyms do not have; past: what earlier runs tell; week: a part of the term that is shown beside the
    whole, unless it is the whole; most_rows: characters of the rows that are in the page itself, MOST_ROWS where nobody
    says.
    """
    common = [kind for kind, _ in commonest(summary.diagnoses, MOST_DIAGNOSES)]
    groups, taught, checks = attention(summary), analysis.to_teach(summary), analysis.checks(summary)
    clusters, hidden = shorten(group_similar(summary, pairs))
    spread = spread_of(summary.totals())
    data = _data(summary, groups, common, taught, linked)
    own_rows, *further_rows = split(data["rows"], MOST_ROWS if most_rows is None else most_rows)
    data |= {"rows": own_rows, "parts": len(further_rows), "folder": ROWS}
    distributions = [summary.distribution(index) for index in range(len(summary.exercises))]
    text = document(
        "classroom/pages/templates/class.html",
        "Results of the class",
        has_scripts=bool(further_rows),
        script=paths.module("classroom/pages/class_page.js").read_text("utf-8"),
        style=paths.module("classroom/pages/class_page.css").read_text("utf-8"),
        facts=_facts(summary),
        groups=groups,
        topics=topics(summary, taught),
        needs=analysis.rank(summary, past.stuck, MOST_NEEDS),
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
        week=_week(week, past) if week and _handed_in(week.fresh) < _handed_in(summary) else None,
        progress=[run for run in past.runs if run.same >= analysis.LEAST and run.before != run.after],
        clusters=clusters,
        hidden=hidden,
        most_compared=len({(pair.student_a, pair.student_b) for pair in pairs}) >= similar.MOST_LISTED,
        most_listed=similar.MOST_LISTED,
        files=handins.sum_line(submissions.count, "graded", ungraded)
        if submissions and submissions.count.found
        else "",
        needs_person=submissions.needs_person if submissions else (),
        unplaced=submissions.unplaced if submissions else (),
        passed=submissions.passed if submissions else (),
        to_place=handins.TO_PLACE,
        titles=titles_of(summary),
        rows={row.student.id: row for row in summary.rows},
        data=data,
        linked=linked,
        noted=[row for row in summary.rows if row.late or row.notes],
        most=MOST,
        address=address,
        listed=handins.listed,
        feedback=FEEDBACK,
    )
    return Page(text, tuple(f"addStudents({json.dumps(rows, separators=(',', ':'))});\n" for rows in further_rows))


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
        _handed_in(week.fresh),
        titles_of(week.fresh),
        topics(week.fresh, analysis.to_teach(week.fresh)),
        analysis.rank(week.whole, week.stuck(past), MOST_NEEDS),
        analysis.hardest(checks, MOST_CHECKS),
    )


def _handed_in(summary: Summary) -> int:
    """How many exercises all students together handed in."""
    return sum(len(row.states) - row.states.count(ABSENT) for row in summary.rows)


def attention(summary: Summary) -> dict[str, list[Row]]:
    """The students who need attention, by the reason. A student may have several reasons."""
    rows, median = summary.rows, summary.median()
    groups = {
        "not graded: see the reasons below, and grade again": [row for row in rows if NOT_GRADED in row.states],
        "handed in nothing": [row for row in rows if not row.handed_in],
        "handed in a file that could not be loaded": [row for row in rows if NOT_LOADED in row.states],
        "handed in a file that is not begun": [row for row in rows if NOT_STARTED in row.states],
    }
    if median:
        reason = f"far below the class: less than half of the median of {round_points(median)} points"
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
        (round_points(summary.median()), f"of {number(summary.max_points)} points: the median of who handed in"),
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
        "students": len(summary.rows),
        "named": any(row.student.name not in ("", row.student.id) for row in summary.rows),
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
