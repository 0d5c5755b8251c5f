"""The feedback on one exercise as lines of plain text, with as much detail as the level allows."""

from collections.abc import Iterator

from grader.classroom.grades import number
from grader.classroom.handback.released import Handed
from grader.classroom.pages.feedback import limited
from grader.reports import json as as_json

WIDEST = 200  # characters of a line
OUTCOMES = {"passed": "passed", "failed": "failed", "not_checked": "not checked"}


def lines(handed: Handed, exercise: str, level: str) -> Iterator[str]:
    """The lines. handed: the student's results for this exercise alone."""
    result = handed.standing.shown(handed.results[0])
    record = limited(as_json.record(result), level)
    points = handed.standing.points(exercise, result.points)
    yield f"Feedback on {exercise[:2]} {result.title}: {number(points, '–')} of {number(result.max_points)} points"
    mark = handed.standing.marks.get(exercise)
    for text in (*(mark.words if mark else ()), *handed.standing.comments.values(), record.get("message") or ""):
        yield from _wrapped(text, "")
    for check in record["checks"]:
        yield ""
        points = f"{number(check['points'])}/{number(check['max_points'])}"
        yield f"{OUTCOMES[check['outcome']]}: {check['title']} ({points})"
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
