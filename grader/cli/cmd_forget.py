"""Remove one student from the results and from the tables beside course.toml."""

import argparse
from pathlib import Path

from grader.catalog import errors


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.add_argument("student", metavar="STUDENT", help="the id that grades.csv has")
    parser.add_argument("--out", metavar="DIR", type=Path, default=Path("results"), help="results; default: results")
    parser.add_argument("--rules", metavar="FILE", type=Path, help="default: course.toml, where there is one")
    parser.add_argument("--roster", metavar="FILE", type=Path, help="as for grade")


def run(options: argparse.Namespace) -> int:
    """Run this verb. Returns the exit code."""
    from grader.classroom import forget
    from grader.cli.grade_class import office_of

    for line in forget.forget(options.out, options.student, office_of(options)):
        print(line)
    return errors.PASSED
