"""The hints of an exercise: numbered stages for each task. Each request gives one more."""

import re
from dataclasses import dataclass

from grader.catalog import paths
from grader.desk import lesson, progress

TASK = re.compile(r"^## Task (\d+)")
STAGE = re.compile(r"^(\d+)\. +(.*)$")


@dataclass(frozen=True)
class Hint:
    """One stage for one task, counted from 1."""

    task: int
    stage: int
    of: int  # stages of this task
    text: str


@dataclass(frozen=True)
class Answer:
    """The answer to a request: the next hint (None where all are seen), and how many are left."""

    hint: Hint | None
    left_of_task: int
    left: int


def all_hints(folder: str) -> tuple[Hint, ...]:
    """Every hint in the order of tasks and stages; none where hints.md is absent or has none."""
    try:
        lines = paths.hints(folder).read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return ()
    stages: dict[int, list[str]] = {}
    task = None
    for line in lines:
        if heading := TASK.match(line):
            task = int(heading[1])
            stages.setdefault(task, [])
        elif line.startswith("#"):
            task = None
        elif task is not None and (numbered := STAGE.match(line)):
            stages[task].append(numbered[2].strip())
        elif task is not None and line.strip() and stages[task]:
            stages[task][-1] += " " + line.strip()
    return tuple(
        Hint(number, stage, len(texts), text)
        for number, texts in sorted(stages.items())
        for stage, text in enumerate(texts, 1)
    )


def seen(folder: str, states: dict[str, progress.State] | None = None) -> tuple[Hint, ...]:
    """The hints that were given so far."""
    stages = (progress.load() if states is None else states).get(folder, progress.State()).hints
    return tuple(hint for hint in all_hints(folder) if hint.stage <= stages.get(str(hint.task), 0))


def left(folder: str, states: dict[str, progress.State] | None = None) -> int:
    """How many hints of an exercise were not given yet."""
    return len(all_hints(folder)) - len(seen(folder, states))


def ask(folder: str, task: int | None = None, kind: str = progress.FILE) -> Answer:
    """Give the next hint and record that it was given.

    task: only hints for this task; None: those for the first task that is not done in the last verdict come first.
    kind: of the file whose last verdict counts.
    """
    tasks = lesson.open_tasks(progress.last(folder, kind)) if task is None else {task}
    taken: list[Hint] = []  # at most one

    def take(state: progress.State) -> None:
        """Choose the next hint, and note in the state that it was given."""
        unseen = [hint for hint in all_hints(folder) if hint.stage > state.hints.get(str(hint.task), 0)]
        if tasks:  # the open tasks come first, then the others; a named task comes alone
            first = [hint for hint in unseen if hint.task in tasks]
            unseen = first if task is not None else first + [hint for hint in unseen if hint not in first]
        if unseen:
            taken.append(unseen[0])
            state.hints[str(unseen[0].task)] = unseen[0].stage

    states = {folder: progress.change(folder, take)}
    if not taken:
        return Answer(None, 0, left(folder, states))
    return Answer(taken[0], taken[0].of - taken[0].stage, left(folder, states))
