"""Grade one exercise again on every save, with task, hints and verdict in one place."""

import argparse

from grader import catalog
from grader.cli.cmd_check import first_not_done


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.add_argument("exercise", nargs="?", metavar="EX", help="default: the first that is not done")
    parser.add_argument("--where", choices=("0", "1"), default="1", help="0: do not look for the line of a mistake")
    parser.add_argument("--poll", action="store_true", help="look at the file again and again, without file events")


def run(options: argparse.Namespace) -> int:
    """Run this verb. Returns the exit code."""
    exercise = catalog.find(options.exercise) if options.exercise is not None else first_not_done()
    from grader.desk import watch

    return watch.run(exercise, options.poll, options.where == "1")
