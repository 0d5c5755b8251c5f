"""class.html: the results of a class on one page, for the instructor. It needs no other file and no script."""

from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import quote

from grader.catalog import paths
from grader.classroom import versions
from grader.classroom.feedback import link_of
from grader.classroom.grades import round_points
from grader.classroom.marks import GRADED, NOT_BEGUN, PERSON, Mark, count_in_words
from grader.classroom.summary import Summary
from grader.reports.templating import document

MOST_CHECKS = 10
SIGNS = {NOT_BEGUN: "stub", PERSON: "person"}  # in the table, for a cell without points


class Cell(NamedTuple):
    """A mark in the table. link: to the feedback; is_full: it has all points."""

    text: str
    link: str = ""
    is_full: bool = False


def class_page(summary: Summary, marks: Sequence[Mark]) -> str:
    titles = [f"{exercise.folder[:2]} {exercise.title}" for exercise in summary.exercises]
    needing = [mark for mark in marks if mark.status == PERSON]
    students = count_in_words(len(summary.rows), "student")
    hand_ins = count_in_words(sum(mark.status in (GRADED, NOT_BEGUN) for mark in marks), "hand-in")
    return document(
        "classroom/templates/class.html",
        "Results of the class",
        style=paths.module("classroom/templates/class.css").read_text("utf-8"),
        facts=f"{students}, {hand_ins} graded, {len(needing):,} need{'s' * (len(needing) == 1)} a person",
        version=versions.shown(),
        needing=needing,
        topics=summary.to_teach(),
        exercises=list(zip(titles, map(summary.counts, range(len(titles))), summary.exercises)),
        hardest=summary.hardest(MOST_CHECKS),
        titles=titles,
        rows=[(row.student, [_cell(mark, summary, at) for at, mark in enumerate(row.marks)]) for row in summary.rows],
        round_points=round_points,
    )


def _cell(mark: Mark | None, summary: Summary, at: int) -> Cell:
    if mark is None or mark.points is None:
        return Cell(SIGNS.get(mark.status, "") if mark else "person")
    text = SIGNS[NOT_BEGUN] if mark.status == NOT_BEGUN else round_points(mark.points)
    link = quote(link_of(mark), errors="replace")
    return Cell(text, link, mark.points >= summary.exercises[at].max_points)
