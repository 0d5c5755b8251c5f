"""Pictures of one exercise: your attention weights beside the expected ones, for the documented sentence."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from grader import catalog
from grader.catalog import errors, paths
from grader.catalog.errors import BadSubmission, WrongUse
from grader.cli.cmd_check import first_not_done
from grader.records import submission
from grader.sandbox.forkserver import ForkServer

if TYPE_CHECKING:
    from grader.judge.pictures import Picture


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.add_argument("exercise", nargs="?", metavar="EX", help="a number (3, 03), a slug or a folder name")
    parser.add_argument("--submission", metavar="FILE", type=Path, help="a .py file or an .ipynb notebook")
    parser.add_argument("--output", metavar="FILE", type=Path, help="write a .png, .svg or .pdf file")


def run(options: argparse.Namespace) -> int:
    """Run this verb. Returns the exit code."""
    exercise = catalog.find(options.exercise) if options.exercise is not None else first_not_done()
    if not paths.pictures(exercise.folder).exists():
        raise WrongUse(f"{exercise.folder} has no picture. Others have: make plot EX=03")
    path = options.submission or paths.stub(exercise.folder)
    with ForkServer() as fork_server:  # it imports torch while this process does
        from grader.judge import capture

        try:
            pictures = capture.capture_pictures(exercise, submission.read(path), fork_server)
        except BadSubmission as error:
            pictures = capture.blank(exercise, str(error))
    if options.output is not None:
        from grader.reports import heatmap

        heatmap.save(pictures, options.output)
        print(f"{options.output} holds {len(pictures)} picture{'' if len(pictures) == 1 else 's'}.")
    else:
        show(exercise, pictures)
    return errors.PASSED


def show(exercise: catalog.Exercise, pictures: Sequence[Picture]) -> None:
    """Print the pictures in the terminal's width; a pipe gets eighty columns."""
    from rich.text import Text

    from grader.reports import terminal
    from grader.reports.heatmap import WIDTH, all_lines

    console = terminal.console()
    console.print(Text(f"{exercise.folder[:2]} {exercise.title}", "bold"))
    for line in all_lines(pictures, console.width if console.is_terminal else WIDTH):
        console.print(line, soft_wrap=True)
