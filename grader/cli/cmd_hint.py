"""Give the next hint of an exercise, one more each time."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from grader import catalog
from grader.catalog import errors, paths
from grader.catalog.errors import NothingLeft, WrongUse
from grader.cli.cmd_check import first_not_done

if TYPE_CHECKING:
    from grader.desk.hints import Answer, Hint


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.add_argument("exercise", nargs="?", metavar="EX", help="default: the first that is not done")
    parser.add_argument("--task", type=int, metavar="N", help="for this task; default: the first that is not done")
    parser.add_argument("--all", action="store_true", help="every hint at once")


def run(options: argparse.Namespace) -> int:
    """Run this verb. Returns the exit code."""
    exercise = catalog.find(options.exercise) if options.exercise is not None else first_not_done()
    from grader.desk import hints

    every, number = hints.all_hints(exercise.folder), exercise.folder[:2]
    if options.task is not None:
        every = tuple(hint for hint in every if hint.task == options.task)
    if not every:
        of_task = f"for task {options.task} " if options.task is not None else ""
        raise WrongUse(f"There are no hints {of_task}in {paths.shown(paths.hints(exercise.folder))}.")
    if options.all:
        say(exercise, every, "")
        return errors.PASSED
    answer = hints.ask(exercise.folder, options.task)
    if answer.task is None:
        raise NothingLeft(
            f"Every task of {number} is done: no hint is needed. All of them: make hint EX={number} ALL=1"
        )
    if answer.hint is None:
        raise NothingLeft(used_up(answer, number))
    say(exercise, (answer.hint,), left(answer, number, named=options.task is not None), past(answer.done))
    return errors.PASSED


def used_up(answer: Answer, number: str) -> str:
    """The sentence that there is no more hint for a task, and what to type."""
    return (
        f"You have seen every hint for task {answer.task}. Again: make hint EX={number} TASK={answer.task} ALL=1\n"
        f"Those of the next task come once this one is done: make check EX={number}. Any task's: TASK=…"
    )


def left(answer: Answer, number: str, named: bool) -> str:
    """How many hints are left, and how to get them. named: whether the task was."""
    task = f" TASK={answer.task}" if named else ""
    if not answer.left_of_task:
        return f"That was the last one for this task. All again: make hint EX={number} TASK={answer.task} ALL=1"
    more = f"{answer.left_of_task} more for this task, {answer.left} in all"
    return f"{more}. The next one: make hint EX={number}{task}"


def past(done_tasks: tuple[int, ...]) -> str:
    """Why it is this task: those before it are done."""
    if not done_tasks:
        return ""
    return (
        f"task {done_tasks[0]} is done"
        if len(done_tasks) == 1
        else f"tasks {done_tasks[0]} to {done_tasks[-1]} are done"
    )


def say(exercise: catalog.Exercise, shown_hints: tuple[Hint, ...], closing: str, reason: str = "") -> None:
    """Print hints, wrapped to the terminal. reason: it is this task."""
    from rich.padding import Padding
    from rich.text import Text

    from grader.reports import formulas, terminal

    console, task = terminal.console(), None
    console.print(Text(f"{exercise.folder[:2]} {exercise.title}", "bold"))
    for hint in shown_hints:
        if hint.task != task:
            task = hint.task
            console.print(Text.assemble(f"Task {task}", (f"  {reason}" if reason else "", "dim")))
        console.print(
            Padding(
                Text.assemble((f"{hint.stage} of {hint.of}  ", "yellow"), formulas.as_text(hint.text)), (0, 0, 0, 2)
            )
        )
    if closing:
        console.print(Text(closing, "dim"))
