"""Prove that the grader judges rightly: stubs, solutions, known mistakes, documented numbers."""

import argparse
import sys

from grader import catalog
from grader.authoring import parallel
from grader.catalog import errors, paths
from grader.cli import processes
from grader.records import containment


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("exercise", nargs="?", metavar="EX", help="one exercise; default: all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="write down which checks each mistake fails")
    parser.add_argument("--jobs", type=processes.number, metavar="N", help="processes; default: one a core")


def run(options: argparse.Namespace) -> int:
    from rich.console import Console

    containment.policy.strict = True  # nothing of ours may break unnoticed
    chosen = [catalog.find(options.exercise)] if options.exercise else list(catalog.exercises())
    jobs = options.jobs or processes.cores()
    problems, tried = [], 0
    with Console(stderr=True).status(f"0 of {len(chosen)} exercises") as status:
        for done, report in enumerate(parallel.verify_all(chosen, options.seed, jobs), 1):
            status.update(f"{done} of {len(chosen)} exercises")
            problems += report.problems or not_current(report, options.write)
            tried += len(report.not_passed)
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        return errors.FAILED
    print(f"{len(chosen)} exercises, {tried} mistakes: every one rejected and named by its own sentence")
    return errors.PASSED


def not_current(report, write: bool) -> list:
    """What is wrong with the file that says which checks each mistake fails. write: make it anew, so nothing is."""
    from grader.authoring import parts, tables  # heavy, so not before

    if tables.update(report.exercise, report.not_passed, write):
        return []
    folder = report.exercise.folder
    mend = f"Make it anew: {parts.again(folder)} WRITE=1"
    return [parts.Problem("it is not there, or not current", paths.failed_checks(folder), mend)]
