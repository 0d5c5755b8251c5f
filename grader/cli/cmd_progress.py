"""Show your progress: every exercise with state, points, tries and the day it was first passed."""

import argparse

from grader.cli.cmd_list import arguments, show
from grader.desk import overview

__all__ = ["arguments", "run"]


def run(options: argparse.Namespace) -> int:
    """Run this verb. Returns the exit code."""
    return show(options.format, overview.text)
