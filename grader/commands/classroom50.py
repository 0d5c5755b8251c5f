"""Make the autograder for CS50's Classroom 50 (and, inside it, grade one checkout)."""

import argparse
import datetime
import json
import os
from pathlib import Path

from grader import catalog, errors
from grader.commands.bundle import replace, write
from grader.errors import WrongUse


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("exercises", metavar="EX", nargs="?", help="3, or 3,7, or all; default: all")
    parser.add_argument("--output", metavar="DIR", type=Path, default=Path("classroom50"), help="default: classroom50")
    parser.add_argument("--hidden", action="store_true", help="with solutions and hidden checks, for all to read")
    parser.add_argument("--seed", type=int, default=0, help="of the fresh inputs; default: 0")
    parser.add_argument("--grade", metavar="FOLDER", type=Path, help="grade this folder; --output is the result.json")


def run(options: argparse.Namespace) -> int:
    exercises = catalog.find_all(options.exercises)
    if options.grade is not None:
        return grade(options, exercises)
    from grader.platforms import classroom50

    try:
        options.output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WrongUse(f"{options.output} cannot be made: {error.strerror}") from None
    for name, content in classroom50.files(exercises, options.hidden).items():
        write(options.output / name, content)
    print("Put these files into <classroom>/autograders/<assignment>/ of your classroom50 repository.")
    return errors.PASSED


def grade(options: argparse.Namespace, exercises) -> int:
    """Grade one checkout and write its result.json. Where grading fails none is written: there is no score then."""
    from grader.platforms import classroom50, one

    graded = one.grade(options.grade, exercises, options.seed)
    known = classroom50.result(graded, os.environ, datetime.datetime.now(datetime.timezone.utc))
    replace(options.output, json.dumps(known, ensure_ascii=False, indent=2) + "\n")
    print(f"{known['score']} of {known['max-score']}")
    return errors.PASSED
