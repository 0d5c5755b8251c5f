"""Prove that the grader judges rightly: stubs, solutions, known mistakes, documented numbers."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from grader import catalog
from grader.authoring import parallel
from grader.authoring.problem import Problem, again
from grader.catalog import errors, paths
from grader.cli import processes
from grader.records import containment

if TYPE_CHECKING:
    from grader.authoring.verify import Report


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.add_argument("exercise", nargs="?", metavar="EX", help="one exercise; default: all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="write down which checks each mistake fails")
    parser.add_argument("--jobs", type=processes.number, metavar="N", help="processes; default: one a core")


def run(options: argparse.Namespace) -> int:
    """Run this verb. Returns the exit code."""
    from rich.console import Console

    containment.policy.strict = True  # an error of the grader must not go unnoticed
    chosen = [catalog.find(options.exercise)] if options.exercise else list(catalog.exercises())
    jobs = options.jobs or processes.cores()
    problems: list[Problem] = []
    mistakes = 0
    with Console(stderr=True).status(f"0 of {len(chosen)} exercises") as status:
        for number, report in enumerate(parallel.verify_all(chosen, options.seed, jobs), 1):
            status.update(f"{number} of {len(chosen)} exercises")
            if report.problems and options.write and report.is_complete:
                not_current(report, write=True)  # what a diagnosis reads: the next run may find less
            problems += report.problems or not_current(report, options.write)
            mistakes += len(report.not_passed)
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        return errors.FAILED
    print(f"{len(chosen)} exercises, {mistakes} mistakes: every one rejected and named by its own sentence")
    return errors.PASSED


def not_current(report: Report, write: bool) -> list[Problem]:
    """The problem of a failed_checks.json that is not current. write: write the file, so that there is no problem."""
    from grader.authoring import tables

    if tables.update(report.exercise, report.not_passed, write):
        return []
    folder = report.exercise.folder
    mend = f"Make it anew: {again(folder)} WRITE=1"
    return [Problem("it is not there, or not current", paths.failed_checks(folder), mend)]
