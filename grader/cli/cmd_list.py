"""List all exercises with state and points."""

import argparse
from collections.abc import Callable

from grader.catalog import errors
from grader.desk import overview


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.add_argument("--format", choices=("text", "json", "md"), default="text")


def run(options: argparse.Namespace) -> int:
    """Run this verb. Returns the exit code."""
    return show(options.format, overview.listed)


def show(form: str, text: Callable[[list[dict]], str]) -> int:
    """Print the table of exercises in one of the formats. text: makes its form "text". Returns the exit code."""
    render = {"text": text, "json": overview.as_json, "md": overview.markdown}[form]
    print(render(overview.rows()), end="")
    return errors.PASSED
