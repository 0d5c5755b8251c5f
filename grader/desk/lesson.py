"""The numbered tasks of a lesson, as its README.md tells them."""

import re
from dataclasses import dataclass

from grader.catalog import paths
from grader.records.results import PASSED, ExerciseResult

HEADING = re.compile(r"^#{2,3} Task (\d+):?\s*(.*)$")
OTHER_HEADING = re.compile(r"^#{1,3} ")


@dataclass(frozen=True)
class Task:
    """One task: its number, its heading and its text (Markdown)."""

    number: int
    title: str
    text: str


def tasks(folder: str) -> tuple[Task, ...]:
    """The tasks of an exercise in order; none where the lesson is absent or has none."""
    try:
        lines = paths.lesson(folder).read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return ()
    found: list[tuple[int, str, list[str]]] = []
    inside = fenced = False
    for line in lines:
        fenced ^= line.startswith("```")
        heading = None if fenced else HEADING.match(line)
        if heading:
            found.append((int(heading[1]), heading[2], []))
            inside = True
        elif not fenced and OTHER_HEADING.match(line):
            inside = False
        elif inside:
            found[-1][2].append(line)
    return tuple(Task(number, title, "\n".join(text).strip()) for number, title, text in found)


def open_tasks(result: ExerciseResult | None) -> set[int] | None:
    """The tasks with a check that is not passed; None where nothing is known of them."""
    if result is None:
        return None
    return {check.task for check in result.checks if check.outcome != PASSED and check.task is not None}


def current(folder: str, result: ExerciseResult | None) -> Task | None:
    """The first task that is not done, as far as the last verdict tells."""
    known, still_open = tasks(folder), open_tasks(result)
    left = known if still_open is None else [task for task in known if task.number in still_open]
    return left[0] if left else None
