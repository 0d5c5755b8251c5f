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
    how = "`make grade` in this folder uses it from now on" if by_itself else f"then: make grade … RULES={shown_path}"
    print(f"{shown_path} is written. Edit it; {how}.")
    return errors.PASSED
