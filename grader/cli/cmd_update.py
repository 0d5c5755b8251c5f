"""Get the newest exercises and grader; what you have written stays."""

import argparse

from grader.catalog import errors, paths


def arguments(parser: argparse.ArgumentParser) -> None:
    """This verb has no options."""


def run(options: argparse.Namespace) -> int:
    """Run this verb. Returns the exit code."""
    from grader.desk import update

    done = update.update()
    if not done.changes:
        print("There is nothing new.")
        return errors.PASSED
    print(f"Up to date: {done.changes} {'file' if done.changes == 1 else 'files'} changed.")
    for file in done.merged:
        how = "is as you left it" if file.is_kept else "has the new parts around your code"
        print(f"{paths.shown(file.path)} {how}. As it was before: {paths.shown(file.copy)}")
    return errors.PASSED
