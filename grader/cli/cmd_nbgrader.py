"""Make a course for nbgrader: source notebooks with solutions and checks, and the settings that grade them."""

import argparse
from pathlib import Path

from grader import catalog
from grader.catalog import errors, paths

DEFAULT = Path("course")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.add_argument("course", nargs="?", type=Path, default=DEFAULT, help=f"the folder; default: {DEFAULT}")
    parser.add_argument("--ex", metavar="EX,…", default="all", help="these exercises: 03,07; default: all")
    parser.add_argument("--exchange", type=Path, help="the folder that students and instructors share")


def run(options: argparse.Namespace) -> int:
    """Run this verb. Returns the exit code."""
    from grader.integrations.nbgrader import course

    chosen = catalog.for_class() if options.ex == "all" else tuple(map(catalog.find, options.ex.split(",")))
    for line in course.make(options.course, chosen, options.exchange):
        print(line)
    print(f"\nThe course is in {paths.shown(options.course)}. There: nbgrader generate_assignment {chosen[0].folder}")
    return errors.PASSED
