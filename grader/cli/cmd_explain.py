"""Explain a grade: grade the same file again and print what was called, expected and given."""

import argparse
from pathlib import Path

from grader import catalog
from grader.catalog import errors


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.add_argument("student", metavar="STUDENT", help="as the folder of results calls them")
    parser.add_argument("exercise", metavar="EX", help="a number (3, 03), a slug or a folder name")
    parser.add_argument("--out", metavar="DIR", type=Path, default=Path("results"), help="default: results")


def run(options: argparse.Namespace) -> int:
    """Run this verb. Returns the exit code."""
    exercise = catalog.find(options.exercise)
    from grader.classroom import explain  # heavy: torch

    explanation = explain.explain(options.out, options.student, exercise)
    for line in explain.lines(explanation):
        print(line)
    return errors.FAILED if explanation.differs else errors.PASSED
