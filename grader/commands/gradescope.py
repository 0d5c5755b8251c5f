"""Make the autograder zip for Gradescope (and, inside it, grade one submission)."""

import argparse
import json
import sys
from pathlib import Path

from grader import catalog, errors
from grader.commands.bundle import replace, write
from grader.errors import WrongUse
from grader.nursery import InfrastructureError


def arguments(parser: argparse.ArgumentParser) -> None:
    from grader.platforms.gradescope import VISIBLE

    parser.add_argument("exercises", metavar="EX", nargs="?", help="3, or 3,7, or all; default: all")
    parser.add_argument("--output", metavar="FILE", type=Path, help="default: gradescope.zip")
    parser.add_argument("--seed", type=int, help="of the fresh inputs; default: one that follows from the checks")
    parser.add_argument("--hidden", choices=VISIBLE, default="visible", help="who sees the hidden checks' verdicts")
    parser.add_argument("--accept-tier", choices=("D",), help="grade although there is no sandbox: your own risk")
    parser.add_argument(
        "--grade", metavar="FOLDER", type=Path, help="grade this folder, write results.json to --output"
    )


def run(options: argparse.Namespace) -> int:
    exercises = catalog.find_all(options.exercises)
    if options.grade is not None:
        return grade(options, exercises)
    from grader.platforms import gradescope

    zipped = gradescope.package(exercises, options.seed, options.hidden, options.accept_tier)
    write(options.output or Path("gradescope.zip"), zipped)
    return errors.PASSED


def grade(options: argparse.Namespace, exercises) -> int:
    """Grade one submission. results.json is written even where grading fails."""
    from grader.platforms import gradescope, one

    if options.output is None:
        raise WrongUse("--grade needs --output results.json")
    try:
        content = gradescope.results(
            one.grade(options.grade, exercises, options.seed or 0, options.accept_tier), options.hidden
        )
        code = errors.PASSED
    except (InfrastructureError, WrongUse, OSError) as error:
        print(error, file=sys.stderr)  # for the instructor: Gradescope keeps it beside the results
        content, code = gradescope.failure("the autograder could not do its work."), errors.NOT_DONE
    replace(options.output, json.dumps(content, ensure_ascii=False, indent=1) + "\n")
    return code
