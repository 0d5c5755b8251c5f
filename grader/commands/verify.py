"""Prove that the grader judges rightly: stubs, solutions, wrong versions, documented numbers."""

import argparse
import sys

from grader import catalog, errors
from grader.nursery import Nursery


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("exercise", nargs="?", metavar="EX", help="one exercise; default: all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="write the generated tables anew")


def run(options: argparse.Namespace) -> int:
    chosen = [catalog.find(options.exercise)] if options.exercise else list(catalog.exercises())
    with Nursery() as nursery:
        from grader import docs, verify

        reports = []
        for exercise in chosen:
            report = verify.verify(exercise, nursery, options.seed)
            reports.append(report)
            wrong = len(report.kills)
            print(f"{exercise.folder}: {len(exercise.points)} checks × {wrong} wrong versions\n")
            print(verify.table(report))
            if report.problems:
                print(report.problems[0], file=sys.stderr)
                return errors.FAILED
    stale = docs.update(reports, options.write, every=not options.exercise)
    if stale:
        only = f" EX={chosen[0].folder[:2]}" if options.exercise else ""
        print(f"{stale[0]} is not current. Make it anew: make verify{only} WRITE=1", file=sys.stderr)
        return errors.FAILED
    killed = sum(len(report.kills) for report in reports)
    print(f"{len(reports)} exercises, {killed} wrong versions: every one rejected and named by its own sentence")
    return errors.PASSED
