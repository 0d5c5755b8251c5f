"""The verb that makes a learner's folder."""

from __future__ import annotations

import argparse
from pathlib import Path

from grader.catalog import errors, paths
from grader.catalog.errors import WrongUse
from grader.cli.options import option, verb

NAME = "my-attention"


@verb("init", option("folder", metavar="FOLDER", nargs="?", type=Path, default=Path(NAME), help=f"default: {NAME}"))
def init(options: argparse.Namespace) -> int:
    """Make a folder of your own with every lesson and stub. The grader and the solutions stay outside of it."""
    if paths.LEARNERS is not None:
        raise WrongUse("You are in a folder of exercises already. To see what is next, type: make")
    from grader.integrations import own_folder

    has_git = own_folder.make(options.folder)
    print(f"{options.folder} is yours: lessons, stubs, hints and figures{', and git has begun' if has_git else ''}.")
    if not has_git:
        print("git is not here. It is needed for make update alone, which merges newer exercises into the folder.")
    print(f"Now type:\n  cd {options.folder}\n  make start")
    return errors.PASSED
