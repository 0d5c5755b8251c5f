"""Make the autograder for CS50's Classroom 50 (and, inside it, grade one checkout)."""

import argparse
import datetime
import json
import os
import sys
from pathlib import Path

from grader import catalog
from grader.catalog import errors
from grader.catalog.errors import WrongUse
from grader.cli.cmd_bundle import save, write


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.add_argument("exercises", metavar="EX", nargs="?", help="3, or 3,7, or all; default: all")
    parser.add_argument("--output", metavar="DIR", type=Path, default=Path("classroom50"), help="default: classroom50")
    parser.add_argument("--hidden", action="store_true", help="with solutions and hidden checks, for all to read")
    parser.add_argument("--seed", type=int, help="of the fresh inputs; default: a new secret in each run")
    parser.add_argument("--grade", metavar="FOLDER", type=Path, help="grade this folder; --output is the result.json")


def run(options: argparse.Namespace) -> int:
    """Run this verb. Returns the exit code."""
    exercises = catalog.find_all(options.exercises)
    if options.grade is not None:
        return grade(options, exercises)
    from grader.integrations import classroom50

    try:
        options.output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WrongUse(f"{options.output} cannot be made: {error.strerror}") from None
    for name, content in classroom50.files(exercises, options.hidden).items():
        write(options.output / name, content)
    print("Put these files into <classroom>/autograders/<assignment>/ of your classroom50 repository.")
    return errors.PASSED


def grade(options: argparse.Namespace, exercises: tuple[catalog.Exercise, ...]) -> int:
    """Grade one checkout. result.json is written before the first exercise, and again after each.

    Returns exit code 3, with which no score counts, where something that was handed in has no verdict.
    """
    from grader.integrations import classroom50, one_student

    def write_result(graded: one_student.Graded) -> bool:
        """Write result.json as far as the exercises are graded."""
        content = classroom50.result(graded, os.environ, datetime.datetime.now(datetime.timezone.utc))
        return save(options.output, json.dumps(content, indent=2) + "\n")

    write_result(one_student.nothing(exercises))
    try:
        graded = one_student.grade(options.grade, exercises, options.seed, so_far=write_result)
        is_done = write_result(graded) and graded.complete
    except Exception as error:
        print(f"The grader could not do its work: {error}", file=sys.stderr)
        return errors.NOT_DONE
    points = sum(result.points for _, result in graded.results if result)
    print(f"{points:g} of {sum(exercise.max_points for exercise in exercises):g} points")
    return errors.PASSED if is_done else errors.NOT_DONE
