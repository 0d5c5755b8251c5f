"""The set-up of a notebook of ours, which is nobody's answer: it installs the grader, as no submission may.

It also brings `check` and the like, which no submission has. In its place the worker's `display`, which does nothing,
stands for each of them, so that a learner's calls cost nothing.
"""

import re

from grader.records.syntax import LINE_ENDS

# Notebooks that were made before a change here are handed in after it: let IS_SETUP know the former text too.
SETUP = """\
# @title Set-up: run this first. Where the exercises are not at hand (Google Colab), it fetches them.
REPOSITORY = "{repository}"

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

here = Path.cwd()
root = next((folder for folder in (here, *here.parents) if (folder / "grader/notebook.py").exists()), None)
if root is None and importlib.util.find_spec("grader") is None:
    root = here / "attention-kata"
    subprocess.run(["git", "clone", "--quiet", "--depth", "1", REPOSITORY, str(root)], check=True)
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "-e", str(root)], check=True)
    os.chdir(root / "exercises/{folder}")
sys.path += [str(root)] if root else []

from grader.notebook import check, experiment, figure, hint, plot, setup

setup()"""
FIRST_LINE = SETUP.partition("\n")[0]
STAND_INS = "check = experiment = figure = hint = plot = setup = display"  # those of grader.notebook
# The address and the folder are the notebook's own. Neither can end the text that it stands in.
_PATTERN = re.escape(SETUP).replace(re.escape("{repository}"), r"[^\"\\\n]*").replace(re.escape("{folder}"), r"\w+")
IS_SETUP = re.compile(f"^{_PATTERN}$", re.M)  # whole lines, so that nothing can stand behind them


def without_setup(source: str) -> str:
    """The source of a file or a cell with STAND_INS and empty lines in place of our set-up."""
    if FIRST_LINE not in source:
        return source
    lines = LINE_ENDS.split(source)
    text = "\n".join(map(str.rstrip, lines))
    found = IS_SETUP.search(text)
    if found is None:
        return source
    before, count = text[: found.start()].count("\n"), found[0].count("\n") + 1
    lines[before : before + count] = [STAND_INS, *[""] * (count - 1)]
    return "\n".join(lines)
