"""Verbs that make what platforms take: the learners' bundle, autograders, courses."""

from __future__ import annotations

import argparse
import datetime
import json
import os
import sys
from pathlib import Path
from typing import Any

from grader import catalog
from grader.catalog import errors, paths
from grader.catalog.errors import WrongUse
from grader.cli.options import EXERCISES, NO_SANDBOX, VISIBLE, option, verb
from grader.integrations import bundle
from grader.records import safe_files
from grader.reports import deliver

BUNDLE, COURSE = Path(f"{bundle.TOP}.zip"), Path("course")


@verb("bundle", option("--output", metavar="FILE", type=Path, default=BUNDLE, help=f"default: {BUNDLE}"))
def make_bundle(options: argparse.Namespace) -> int:
    """Make the zip that learners get: lessons, stubs, hints, and the grader with the documented checks alone."""
    write(options.output, bundle.build())
    return errors.PASSED


def write(path: Path, data: bytes) -> None:
    """Write a file as a whole or not at all, and print its size. Raises WrongUse where it cannot be written."""
    try:
        safe_files.write_whole(path, data)
    except (OSError, ValueError) as error:
        name = str(path).encode("utf-8", "backslashreplace").decode()
        raise WrongUse(f"{name} cannot be written: {getattr(error, 'strerror', None) or error}") from None
    print(f"{path}: {len(data) / 1e3:,.0f} kB")


@verb(
    "gradescope",
    EXERCISES,
    option("--output", metavar="FILE", type=Path, help="default: gradescope.zip"),
    option("--seed", type=int, help="of the fresh inputs, in every run; default: a new secret in each"),
    option("--hidden", choices=VISIBLE, default="visible", help="who sees the hidden checks' verdicts"),
    NO_SANDBOX,
    option("--grade", metavar="FOLDER", type=Path, help="grade this folder, write results.json to --output"),
)
def make_gradescope(options: argparse.Namespace) -> int:
    """Make the autograder zip for Gradescope (and, inside it, grade one submission)."""
    exercises = catalog.find_all(options.exercises)
    if options.grade is not None:
        return _grade_for_gradescope(options, exercises)
    from grader.integrations import gradescope

    zipped = gradescope.package(exercises, options.seed, options.hidden, options.accept_tier)
    write(options.output or Path("gradescope.zip"), zipped)
    print(f"Set the assignment's points to {sum(exercise.max_points for exercise in exercises):g} on Gradescope.")
    return errors.PASSED


def _grade_for_gradescope(options: argparse.Namespace, exercises: tuple[catalog.Exercise, ...]) -> int:
    """Grade one submission. results.json is written before the first exercise, and again after each."""
    from grader.integrations import gradescope

    if options.output is None:
        raise WrongUse("--grade needs --output results.json")

    def write_results(content: dict[str, Any]) -> bool:
        """Write results.json."""
        return deliver(json.dumps(content, indent=1) + "\n", options.output)

    write_results(gradescope.failure("the autograder was ended before it was done."))
    try:
        from grader.integrations import one_student

        graded = one_student.grade(
            options.grade,
            exercises,
            options.seed,
            options.accept_tier,
            lambda graded: write_results(gradescope.results(graded, options.hidden)),
        )
        is_done = write_results(gradescope.results(graded, options.hidden)) and graded.complete
    except Exception as error:
        print(error, file=sys.stderr)  # for the instructor: Gradescope keeps it beside the results
        write_results(gradescope.failure("the autograder could not do its work."))
        is_done = False
    return errors.PASSED if is_done else errors.NOT_DONE


@verb(
    "classroom50",
    EXERCISES,
    option("--output", metavar="DIR", type=Path, default=Path("classroom50"), help="default: classroom50"),
    option("--hidden", action="store_true", help="with solutions and hidden checks, for all to read"),
    option("--seed", type=int, help="of the fresh inputs; default: a new secret in each run"),
    option("--grade", metavar="FOLDER", type=Path, help="grade this folder; --output is the result.json"),
)
def make_classroom50(options: argparse.Namespace) -> int:
    """Make the autograder for CS50's Classroom 50 (and, inside it, grade one checkout)."""
    exercises = catalog.find_all(options.exercises)
    if options.grade is not None:
        return _grade_for_classroom50(options, exercises)
    from grader.integrations import classroom50

    try:
        options.output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WrongUse(f"{options.output} cannot be made: {error.strerror}") from None
    for name, content in classroom50.files(exercises, options.hidden).items():
        write(options.output / name, content)
    print("Put these files into <classroom>/autograders/<assignment>/ of your classroom50 repository.")
    return errors.PASSED


def _grade_for_classroom50(options: argparse.Namespace, exercises: tuple[catalog.Exercise, ...]) -> int:
    """Grade one checkout. result.json is written before the first exercise, and again after each.

    Returns exit code 3, with which no score counts, where something that was handed in has no verdict.
    """
    from grader.integrations import classroom50, one_student

    def write_result(graded: one_student.Graded) -> bool:
        """Write result.json as far as the exercises are graded."""
        content = classroom50.result(graded, os.environ, datetime.datetime.now(datetime.timezone.utc))
        return deliver(json.dumps(content, indent=2) + "\n", options.output)

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


@verb(
    "nbgrader",
    option("course", nargs="?", type=Path, default=COURSE, help=f"the folder; default: {COURSE}"),
    option("--ex", metavar="EX,…", default="all", help="these exercises: 03,07; default: all"),
    option("--exchange", type=Path, help="the folder that students and instructors share"),
)
def make_course(options: argparse.Namespace) -> int:
    """Make a course for nbgrader: source notebooks with solutions and checks, and the settings that grade them."""
    from grader.integrations.nbgrader import course

    chosen = catalog.for_class() if options.ex == "all" else tuple(map(catalog.find, options.ex.split(",")))
    for line in course.make(options.course, chosen, options.exchange):
        print(line)
    print(f"\nThe course is in {paths.shown(options.course)}. There: nbgrader generate_assignment {chosen[0].folder}")
    return errors.PASSED
