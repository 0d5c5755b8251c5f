"""Explain a mark: grade the attempt that counts again, print what was called, and what the rules make of it."""

import argparse
from pathlib import Path

from grader import catalog
from grader.catalog import errors
from grader.cli.grade_class import office_of


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.add_argument("student", metavar="STUDENT", help="id, name, e-mail address, login or alias")
    parser.add_argument("exercise", metavar="EX", help="a number (3, 03), a slug or a folder name")
    parser.add_argument("--out", metavar="DIR", type=Path, default=Path("results"), help="default: results")
    parser.add_argument("--rules", metavar="FILE", type=Path, help="default: course.toml, where there is one")
    parser.add_argument("--roster", metavar="FILE", type=Path, help="as for grade")


def run(options: argparse.Namespace) -> int:
    """Run this verb. Returns the exit code."""
    exercise = catalog.find(options.exercise)
    office = office_of(options)
    from grader.classroom import explain  # heavy: torch

    explanation = explain.explain(options.out, options.student, exercise, office)
    for line in explain.lines(explanation):
        print(line)
    return errors.FAILED if explanation.differs else errors.PASSED
