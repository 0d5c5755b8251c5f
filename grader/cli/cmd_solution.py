"""Show the reference beside your own, once the exercise is passed."""

import argparse

from grader import catalog
from grader.catalog import errors
from grader.catalog.errors import WrongUse
from grader.desk import progress


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.add_argument("exercise", metavar="EX", help="a number (3, 03), a slug or a folder name")
    parser.add_argument("--force", action="store_true", help="also before the exercise is passed")


def run(options: argparse.Namespace) -> int:
    """Run this verb. Returns the exit code."""
    exercise = catalog.find(options.exercise)
    is_passed = progress.load().get(exercise.folder, progress.State()).done
    if not is_passed and not options.force:
        number = exercise.folder[:2]
        raise WrongUse(
            f"You have not passed {number} yet. A hint: make hint EX={number}\n"
            f"To see the solution all the same: make solution EX={number} FORCE=1"
        )
    from grader.desk import side_by_side
    from grader.reports import terminal

    console = terminal.console()
    console.print(side_by_side.of(exercise.folder, console.width), soft_wrap=not console.is_terminal)
    return errors.PASSED
