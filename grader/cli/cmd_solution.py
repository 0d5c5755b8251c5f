"""Show the reference beside your own, once the exercise is passed."""

import argparse

from grader import catalog
from grader.catalog import errors
from grader.catalog.errors import WrongUse
from grader.desk import progress


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("exercise", metavar="EX", help="a number (3, 03), a slug or a folder name")
    parser.add_argument("--force", action="store_true", help="also before the exercise is passed")


def run(options: argparse.Namespace) -> int:
    exercise = catalog.find(options.exercise)
    done = progress.load().get(exercise.folder, progress.State()).done
    if not done and not options.force:
        number = exercise.folder[:2]
        raise WrongUse(
            f"You have not passed {number} yet. A hint: make hint EX={number}\n"
            f"To see the solution all the same: make solution EX={number} FORCE=1"
        )
    from grader.desk import side_by_side
    from grader.reports import terminal

    where = terminal.console()
    where.print(side_by_side.of(exercise.folder, where.width), soft_wrap=not where.is_terminal)
    return errors.PASSED
