"""Write course.toml, the rules of a course, with a comment on each: to be edited by the instructor."""

import argparse
from pathlib import Path

from grader.catalog import errors, paths
from grader.catalog.errors import WrongUse


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.add_argument("--output", metavar="FILE", type=Path, default=Path("course.toml"), help="default: course.toml")


def run(options: argparse.Namespace) -> int:
    """Run this verb. A file that is there is the instructor's, and stays. Returns the exit code."""
    from grader.classroom.course import settings, template

    if options.output.exists():
        raise WrongUse(f"{options.output} is there already, and yours. Another file: OUTPUT=…")
    try:
        options.output.write_text(template.text(), "utf-8")
    except OSError as error:
        raise WrongUse(f"{options.output} cannot be written: {error.strerror}") from None
    shown_path = paths.shown(options.output)
    by_itself = options.output.resolve() == Path(settings.NAME).resolve()
    elsewhere = f"follows it in that folder (kata grade DIR), and from here with RULES={shown_path}"
    how = "in this folder follows it from now on" if by_itself else elsewhere
    print(f"{shown_path} is written. Edit it: grading {how}.")
    return errors.PASSED
