"""Put the fresh stub of an exercise back; your file is kept beside it."""

import argparse

from grader import catalog
from grader.catalog import errors, paths


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.add_argument("exercise", metavar="EX", help="a number (3, 03), a slug or a folder name")


def run(options: argparse.Namespace) -> int:
    """Run this verb. Returns the exit code."""
    exercise = catalog.find(options.exercise)
    from grader.desk import reset

    copy = reset.reset(exercise.folder)
    print(f"{paths.shown(paths.stub(exercise.folder))} is the fresh stub.")
    if copy is not None:
        print(f"Your file is kept: {paths.shown(copy)}")
    return errors.PASSED
