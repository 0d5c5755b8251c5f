"""class.html: the results of a class on one page, for the instructor. The page needs no other file."""

from collections.abc import Sequence
from typing import Any

from grader.catalog import paths
from grader.classroom import analysis
from grader.classroom.analysis import Lesson
from grader.classroom.analysis import spread as spread_of
from grader.classroom.grades import number
from grader.classroom.handins import Class, Found
from grader.classroom.intake import tally
from grader.classroom.pages import charts, sections
from grader.classroom.pages.sections import address
from grader.classroom.past import NO_PAST, Past
from grader.classroom.rows import ABSENT, ALL_PASSED, NOT_GRADED, NOT_LOADED, NOT_STARTED, Kind, Row
from grader.classroom.similar import Pair
from grader.classroom.summary import Summary, commonest, tenths
from grader.records.sanitize import inert
from grader.reports.html_page import document

FEEDBACK = "feedback.html"
MOST_DIAGNOSES = 30  # that are listed and can be chosen as filters
MOST_OPEN, MOST_CHECKS, MOST_TROUBLES, MOST_NAMED, MOST_TAUGHT, MOST_NEEDS = 10, 15, 10, 8, 8, 20
MOST_PAIRS, MOST_MEMBERS, MOST_PIECES = 200, 30, 4  # clusters; students and pairs of one; pieces of code of a pair
MOST = {
    "open": MOST_OPEN, "named": MOST_NAMED, "taught": MOST_TAUGHT, "needing": tally.MOST,
    "pairs": MOST_PAIRS, "members": MOST_MEMBERS, "pieces": MOST_PIECES,
}  # fmt: skip
FAR_BELOW = 0.5  # a total below this share of the median needs attention


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
) -> str:
    """The page of a summary.

    submissions: all that was handed in; ungraded: how many files could not be graded; linked: students lead to their
    pages, which pseudonyms do not have; past: what earlier runs tell.
    """
    common = [kind for kind, _ in commonest(summary.diagnoses, MOST_DIAGNOSES)]
    groups, taught, checks = attention(summary), analysis.to_teach(summary), analysis.checks(summary)
    clusters, spread = sections.groups(summary, pairs), spread_of(summary.totals())
    distributions = [summary.distribution(index) for index in range(len(summary.exercises))]
    return document(
        "classroom/pages/templates/class.html",
        "Results of the class",
        script=paths.module("classroom/pages/class_page.js").read_text("utf-8"),
        style=paths.module("classroom/pages/class_page.css").read_text("utf-8"),
        facts=_facts(summary),
        groups=groups,
        topics=sections.topics(summary, taught),
        needs=analysis.ranked(summary, past.stuck, MOST_NEEDS),
        mistakes=sections.mistakes(summary, common, distributions),
        exercises=sections.exercises(summary, distributions),
        spread=spread,
        totals=charts.histogram(tenths(summary.totals(), summary.max_points), "Totals"),
        max_points=number(summary.max_points),
        runs=past.runs,
        hardest=analysis.hardest(checks, MOST_CHECKS),
        least_tried=analysis.least_tried(checks),
        checks=checks,
        troubles=commonest(summary.troubles, MOST_TROUBLES),
        clusters=clusters,
        hidden=_hidden(clusters),
        files=tally.sum_of(submissions.count, "graded", ungraded) if submissions and submissions.count.found else "",
        needs_person=submissions.needs_person if submissions else (),
        unplaced=submissions.unplaced if submissions else (),
        to_place=tally.TO_PLACE,
        titles=sections.titles_of(summary),
        rows={row.student.id: row for row in summary.rows},
        data=_data(summary, groups, common, taught, linked),
        linked=linked,
        noted=[row for row in summary.rows if row.late or row.notes],
        most=MOST,
        address=address,
        listed=tally.listed,
        feedback=FEEDBACK,
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


def _hidden(clusters: Sequence[sections.Group]) -> int:
    """The number of pairs that the page does not show."""
    pair_count = sum(len(cluster.pairs) for cluster in clusters)
    return pair_count - sum(min(len(cluster.pairs), MOST_MEMBERS) for cluster in clusters[:MOST_PAIRS])
