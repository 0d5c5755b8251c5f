"""The numbered tasks of a lesson, read from its README.md."""

import re
from dataclasses import dataclass

from grader.catalog import paths
from grader.records.results import PASSED, ExerciseResult

HEADING = re.compile(r"^#{2,3} Task (\d+):?\s*(.*)$")
FOLDED = re.compile(r"^<details>.*?^</details>\n*", re.M | re.S)  # what a page shows once it is opened
OTHER_HEADING = re.compile(r"^#{1,3} ")


@dataclass(frozen=True)
class Task:
    """One task: its number, its heading and its text (Markdown), without what is folded."""

    number: int
    title: str
    text: str


def tasks(folder: str) -> tuple[Task, ...]:
    """The tasks of an exercise in order; none where the lesson is absent or has none."""
    try:
        lines = paths.lesson(folder).read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return ()
    sections: list[tuple[int, str, list[str]]] = []
    inside = fenced = False
    for line in lines:
        fenced ^= line.startswith("```")
        heading = None if fenced else HEADING.match(line)
        if heading:
            sections.append((int(heading[1]), heading[2], []))
            inside = True
        elif not fenced and OTHER_HEADING.match(line):
            inside = False
        elif inside:
            sections[-1][2].append(line)
    return tuple(Task(number, title, FOLDED.sub("", "\n".join(text)).strip()) for number, title, text in sections)


def open_tasks(result: ExerciseResult | None) -> set[int] | None:
    """The numbers of the tasks with a check that is not passed; None where there is no verdict."""
    if result is None:
        return None
    return {check.task for check in result.checks if check.outcome != PASSED and check.task is not None}


def current(folder: str, result: ExerciseResult | None) -> Task | None:
    """The first task that is not done according to the last verdict; None where all are done."""
    all_tasks, open_numbers = tasks(folder), open_tasks(result)
    not_done = all_tasks if open_numbers is None else [task for task in all_tasks if task.number in open_numbers]
    return not_done[0] if not_done else None
