"""List all exercises with state and points."""

import argparse

from grader import errors
from grader.desk import standing

RENDER = {"text": standing.listed, "json": standing.as_json, "md": standing.markdown}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--format", choices=tuple(RENDER), default="text")


def run(options: argparse.Namespace) -> int:
    print(RENDER[options.format](standing.rows()), end="")
    return errors.PASSED
