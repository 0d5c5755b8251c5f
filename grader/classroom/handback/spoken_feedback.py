"""The feedback on an assignment as lines of plain text, with as much detail as the level allows."""

from collections.abc import Iterator, Sequence

from grader import catalog
from grader.classroom.course.standing import Standing
from grader.classroom.grades import number
from grader.classroom.handback.released import Handed
from grader.classroom.pages.feedback import limited
from grader.records.results import ExerciseResult
from grader.reports import json as as_json

WIDEST = 200  # characters of a line
OUTCOMES = {"passed": "passed", "failed": "failed", "not_checked": "not checked"}


def lines(handed: Handed, exercises: Sequence[str], level: str) -> Iterator[str]:
    """The lines. handed: the student's results for these exercises alone."""
    results = {result.exercise: handed.standing.shown(result) for result in handed.results}
    if comment := handed.standing.comments.get(""):
        yield from _wrapped(comment, "")
    for number_of, folder in enumerate(exercises):
        if number_of or comment:
            yield ""
        if folder in results:
            yield from _about(handed.standing, results[folder], level)
        else:
            yield f"Feedback on {folder[:2]} {catalog.find(folder).title}: nothing handed in"


def _about(standing: Standing, result: ExerciseResult, level: str) -> Iterator[str]:
    """The lines on one exercise."""
    folder = result.exercise
    record = limited(as_json.record(result), level)
    points = standing.points(folder, result.points)
    yield f"Feedback on {folder[:2]} {result.title}: {number(points, '–')} of {number(result.max_points)} points"
    mark = standing.marks.get(folder)
    comment = standing.comments.get(folder, "")
    for text in (*(mark.words if mark else ()), comment, record.get("message") or ""):
        yield from _wrapped(text, "")
    for check in record["checks"]:
        yield ""
        points_of_check = f"{number(check['points'])}/{number(check['max_points'])}"
        yield f"{OUTCOMES[check['outcome']]}: {check['title']} ({points_of_check})"
        yield from _wrapped(check.get("message") or "", "  ")
        if check.get("diagnosis"):
            yield from _wrapped(f"likely: {check['diagnosis']}", "  ")
        yield from _wrapped(check.get("where") or "", "  ")


def _wrapped(text: str, indent: str) -> Iterator[str]:
    """Each line of a text, none too long."""
    for line in text.splitlines():
        while line:
            yield indent + line[:WIDEST]
            line = line[WIDEST:]
