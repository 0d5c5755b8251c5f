"""Give the next hint of an exercise, one more each time."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from grader import catalog
from grader.catalog import errors, paths
from grader.catalog.errors import WrongUse
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
        what = f"for task {options.task} " if options.task is not None else ""
        raise WrongUse(f"There are no hints {what}in {paths.shown(paths.hints(exercise.folder))}.")
    if options.all:
        say(exercise, every, "")
        return errors.PASSED
    answer = hints.ask(exercise.folder, options.task)
    if answer.hint is None:
        raise WrongUse(f"You have seen them all. Again: make hint EX={number} ALL=1")
    say(exercise, (answer.hint,), left(answer, number))
    return errors.PASSED


def left(answer: Answer, number: str) -> str:
    """How many hints are left, and how to get them."""
    if not answer.left:
        return f"That was the last one. All again: make hint EX={number} ALL=1"
    more = f"{answer.left_of_task} more for this task, {answer.left} in all"
    return f"{more}. The next one: make hint EX={number}"


def say(exercise: catalog.Exercise, shown_hints: tuple[Hint, ...], closing: str) -> None:
    """Print hints, wrapped to the terminal."""
    from rich.padding import Padding
    from rich.text import Text

    from grader.reports import formulas, terminal

    console, task = terminal.console(), None
    console.print(Text(f"{exercise.folder[:2]} {exercise.title}", "bold"))
    for hint in shown_hints:
        if hint.task != task:
            task = hint.task
            console.print(Text(f"Task {task}"))
        console.print(
            Padding(
                Text.assemble((f"{hint.stage} of {hint.of}  ", "yellow"), formulas.as_text(hint.text)), (0, 0, 0, 2)
            )
        )
    if closing:
        console.print(Text(closing, "dim"))
