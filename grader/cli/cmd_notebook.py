"""Make the notebook of one exercise from its lesson and stub, and open it in JupyterLab where there is one."""

import argparse
import importlib.util
import os
import subprocess
import sys

from grader import catalog
from grader.catalog import errors, extras, paths
from grader.cli.cmd_check import first_not_done


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this verb."""
    parser.add_argument("exercise", nargs="?", metavar="EX", help="a number (3, 03), a slug or a folder name")
    parser.add_argument("--no-open", action="store_true", help="only make it")


def run(options: argparse.Namespace) -> int:
    """Run this verb. Returns the exit code."""
    from grader.integrations.notebook import export

    exercise = catalog.find(options.exercise) if options.exercise is not None else first_not_done()
    path, outcome = export.make(exercise)
    name = paths.shown(path)
    print(f"{name} is made." if outcome == export.MADE else f"{name} is yours: it was left as it is.")
    if options.no_open:
        return errors.PASSED
    if importlib.util.find_spec("jupyterlab") is None:
        print(extras.missing("Opening it needs JupyterLab", "notebook"))
        print("Or open the notebook in another program, such as VS Code, with this Python as its kernel.")
        return errors.PASSED
    command = [sys.executable, "-m", "jupyterlab", str(path)]
    if not sys.stdout.isatty():
        print(f"Open it: {' '.join(command)}")
        return errors.PASSED
    # The kernel finds the grader also where it is not installed.
    roots = [str(paths.ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.call(command, cwd=paths.ROOT, env={**os.environ, "PYTHONPATH": os.pathsep.join(roots)})
