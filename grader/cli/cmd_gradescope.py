"""Make the autograder zip for Gradescope (and, inside it, grade one submission)."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from grader import catalog
from grader.catalog import errors
from grader.catalog.errors import WrongUse
from grader.classroom.course.settings import Course
from grader.cli.cmd_bundle import save, write


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    from grader.integrations.gradescope import VISIBLE

    parser.add_argument("exercises", metavar="EX", nargs="?", help="3, or 3,7, or all; default: all")
    parser.add_argument("--output", metavar="FILE", type=Path, help="default: gradescope.zip")
    parser.add_argument("--seed", type=int, help="of the fresh inputs, in every run; default: a new secret in each")
    parser.add_argument("--hidden", choices=VISIBLE, default="visible", help="who sees the hidden checks' verdicts")
    parser.add_argument("--accept-tier", choices=("D",), help="grade although there is no sandbox: your own risk")
    parser.add_argument("--rules", metavar="FILE", type=Path, help="course.toml: late rule, weights, overrides.csv")
    parser.add_argument(
        "--grade", metavar="FOLDER", type=Path, help="grade this folder, write results.json to --output"
    )


def run(options: argparse.Namespace) -> int:
    """Run this verb. Returns the exit code."""
    exercises = catalog.find_all(options.exercises)
    if options.grade is not None:
        return grade(options, exercises)
    from grader.classroom import office
    from grader.integrations import gradescope, gradescope_rules

    # Read now, so that a mistake in the rules is reported here and not by Gradescope.
    rules = office.opened(options.rules, None) if options.rules is not None else None
    zipped = gradescope.package(exercises, options.seed, options.hidden, options.accept_tier, rules)
    write(options.output or Path("gradescope.zip"), zipped)
    for line in gradescope_rules.advice(exercises, rules or office.Office(Course())):
        print(line)
    return errors.PASSED


def grade(options: argparse.Namespace, exercises: tuple[catalog.Exercise, ...]) -> int:
    """Grade one submission. results.json is written before the first exercise, and again after each."""
    from grader.integrations import gradescope

    if options.output is None:
        raise WrongUse("--grade needs --output results.json")

    def write_results(content: dict[str, Any]) -> bool:
        """Write results.json."""
        return save(options.output, json.dumps(content, indent=1) + "\n")

    write_results(gradescope.failure("the autograder was ended before it was done."))
    try:
        from grader.integrations import gradescope_rules, one_student

        metadata = options.grade.with_name("submission_metadata.json")
        ruled = gradescope_rules.read(options.rules, metadata) if options.rules else gradescope_rules.NO_RULES
        graded = one_student.grade(
            options.grade,
            exercises,
            options.seed,
            options.accept_tier,
            lambda graded: write_results(gradescope.results(graded, options.hidden, ruled)),
        )
        is_done = write_results(gradescope.results(graded, options.hidden, ruled)) and graded.complete
    except Exception as error:
        print(error, file=sys.stderr)  # for the instructor: Gradescope keeps it beside the results
        write_results(gradescope.failure("the autograder could not do its work."))
        is_done = False
    return errors.PASSED if is_done else errors.NOT_DONE
