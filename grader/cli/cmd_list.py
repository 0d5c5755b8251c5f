"""List all exercises with state and points."""

import argparse

from grader.catalog import errors
from grader.desk import overview

RENDER = {"text": overview.listed, "json": overview.as_json, "md": overview.markdown}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.add_argument("--format", choices=tuple(RENDER), default="text")


def run(options: argparse.Namespace) -> int:
    """Run this verb. Returns the exit code."""
    print(RENDER[options.format](overview.rows()), end="")
    return errors.PASSED
