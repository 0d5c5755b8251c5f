"""Make an exercise's stub from its solution, for authors."""

import argparse

from grader import catalog
from grader.catalog import errors, paths, stubs
from grader.catalog.errors import WrongUse


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.add_argument("exercise", metavar="EX")
    parser.add_argument("--force", action="store_true", help="also over a file that a learner has begun to fill in")


def run(options: argparse.Namespace) -> int:
    """Run this verb. Returns the exit code."""
    exercise = catalog.find(options.exercise)
    path = paths.stub(exercise.folder)
    if path.exists() and not options.force and not _is_stub(path.read_text("utf-8")):
        raise WrongUse(f"{paths.shown(path)} has been filled in. To lose that: make stub EX={options.exercise} FORCE=1")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(stubs.make(paths.solution(exercise.folder).read_text("utf-8")), "utf-8")
    print(f"wrote {paths.shown(path)}")
    return errors.PASSED


def _is_stub(text: str) -> bool:
    return stubs.make(text) == text
