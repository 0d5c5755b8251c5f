"""The hints of an exercise: numbered stages for each task. Each request gives one more.

After a failed check with a known mistake, the first hint is about that mistake: a question, and what to read again.
"""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from grader import catalog
from grader.catalog import Exercise, mistakes, paths
from grader.catalog.errors import WrongUse
from grader.catalog.exercise import Misconception
from grader.desk import formulas, lesson, progress
from grader.records.causes import known_sentences
from grader.records.results import FAILED, ExerciseResult

SECTION = re.compile(r"^## Task (\d+)[^\n]*\n(.*?)(?=^#|\Z)", re.M | re.S)
STAGE = re.compile(r"^\d+\. +(.+?)(?=^\d+\. |\Z)", re.M | re.S)


@dataclass(frozen=True)
class Hint:
    """One stage for one task, counted from 1; 0 for the hint about a known mistake."""

    task: int
    stage: int
    of: int  # stages of this task
    text: str

    @property
    def place(self) -> str:
        """Which one it is: "1 of 3"."""
        return f"{self.stage} of {self.of}" if self.stage else "about your mistake"


@dataclass(frozen=True)
class Answer:
    """The answer to a request: the next hint for a task (None where all of them are seen), and how many it has left.

    task: None where every task is done.
    """

    hint: Hint | None
    left: int
    task: int | None = None


def of_task(folder: str, task: int) -> tuple[Hint, ...]:
    """The hints for one task. Raises WrongUse where there are none, with the tasks that have some."""
    every = all_hints(folder)
    found = tuple(hint for hint in every if hint.task == task)
    if every and not found:
        raise WrongUse(f"There is no task {task} in {folder[:2]}: its tasks are {every[0].task} to {every[-1].task}.")
    return found


def all_hints(folder: str) -> tuple[Hint, ...]:
    """Every hint in the order of tasks and stages; none where hints.md is absent or has none."""
    try:
        text = paths.hints(folder).read_text("utf-8", errors="replace")
    except OSError:
        return ()
    hints: list[Hint] = []
    for heading, body in SECTION.findall(text):
        texts = [" ".join(stage.split()) for stage in STAGE.findall(body)]
        hints += (Hint(int(heading), number, len(texts), stage) for number, stage in enumerate(texts, 1))
    return tuple(hints)


def ask(folder: str, task: int | None = None, kind: str = progress.FILE) -> Answer:
    """Give the next hint for one task, and record that it was given.

    task: None: the first one that is not done in the last verdict; it stays until a verdict says that it is done.
    kind: of the file whose last verdict counts.
    """
    result = progress.last(folder, kind)
    if task is None:
        current = lesson.current(folder, result)
        if current is None:
            return Answer(None, 0)
        task = current.number
    given, chosen = progress.state(folder).hints, None
    if found := _next(folder, task, result, given):
        key, chosen = found
        given = progress.change(folder, lambda state: state.hints.update({key: max(chosen.stage, 1)})).hints
    left = sum(hint.task == task and hint.stage > given.get(str(task), 0) for hint in all_hints(folder))
    return Answer(chosen, left, task)


def free(result: ExerciseResult) -> Hint | None:
    """The hint that `ask` would give next after this verdict. It is not recorded as given; None after a pass."""
    task, given = lesson.current(result.exercise, result), progress.state(result.exercise).hints
    found = _next(result.exercise, task.number, result, given) if task else None
    return found[1] if found else None


def _next(folder: str, task: int, result: ExerciseResult | None, given: dict[str, int]) -> tuple[str, Hint] | None:
    """The next hint for a task, and its key in `given`: first about a mistake that was made, then the stages."""
    stages = [hint for hint in all_hints(folder) if hint.task == task]
    for idea in misconceptions_shown(folder, task, result):
        if idea.id not in given:
            return idea.id, Hint(task, 0, len(stages), about(idea, folder))
    return next(((str(task), hint) for hint in stages if hint.stage > given.get(str(task), 0)), None)


def page(exercise: Exercise, task: int | None = None, every: bool = False) -> Iterator[RenderableType]:
    """The next hint for a terminal, which counts as given, or every one. Raises WrongUse where there are none."""
    folder = exercise.folder
    known = all_hints(folder) if task is None else of_task(folder, task)
    if not known:
        raise WrongUse(f"There are no hints in {paths.shown(paths.hints(folder))}.")
    if every:
        yield from _listed(exercise, known)
        return
    answer = ask(folder, task)
    if answer.hint is not None:
        yield from _listed(exercise, (answer.hint,))
    yield Text(note(folder, answer), "dim" if answer.hint else "")
    if not progress.is_kept():
        yield Text(progress.NOT_KEPT, "yellow")


def note(folder: str, answer: Answer) -> str:
    """What to say below the answer to a request: how many hints are left, or what to type instead."""
    number = folder[:2]
    if answer.task is None:
        return f"Every task of {number} is done: no hint is needed. All of them: make hint EX={number} ALL=1"
    command = f"make hint EX={number} TASK={answer.task}"
    if answer.hint is None:
        seen = f"You have seen every hint for task {answer.task}. Again: {command} ALL=1"
        return f"{seen}\nAnother task's come once this one is done, or with TASK=…"
    if answer.left:
        return f"{answer.left} more for this task. The next one: {command}"
    return f"That was the last one for this task. All again: {command} ALL=1"


def _listed(exercise: Exercise, chosen: tuple[Hint, ...]) -> Iterator[RenderableType]:
    """Hints below the headings of their tasks."""
    yield Text(f"{exercise.folder[:2]} {exercise.title}", "bold")
    for task, hints in itertools.groupby(chosen, lambda hint: hint.task):
        yield Text(f"Task {task}")
        for hint in hints:
            yield Padding(Text.assemble((f"{hint.place}  ", "yellow"), formulas.as_text(hint.text)), (0, 0, 0, 2))


def misconceptions_shown(folder: str, task: int, result: ExerciseResult | None) -> list[Misconception]:
    """The misconceptions behind the known mistakes that a task's failed checks show, in the order of the checks."""
    failed = [check for check in result.checks if check.outcome == FAILED and check.task == task] if result else []
    said = [sentence for check in failed for sentence in known_sentences(check.diagnosis)]
    of_sentence = mistakes.misconceptions_of_sentences(folder) if any(said) else {}
    return list(dict.fromkeys(of_sentence[sentence] for sentence in said if sentence in of_sentence))


def about(idea: Misconception, folder: str) -> str:
    """The hint on a misconception: its question, and where to read, unless that is a lesson still to come."""
    own_lesson = folder[:2]
    if idea.lesson > own_lesson:
        return idea.hint
    text = lesson.text(catalog.find(idea.lesson).folder)
    section = mistakes.section_heading(text, idea.section) or idea.section
    return f"{idea.hint} Then read “{section}” {'again' if idea.lesson == own_lesson else f'in lesson {idea.lesson}'}."
