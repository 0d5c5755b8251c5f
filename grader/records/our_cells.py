"""The parts of a notebook that we wrote: its set-up, and calls of `check` and the like. They are nobody's answer.

The set-up installs the grader, which no submission may do, and no submission has the functions that it brings.
"""

import ast
import re
from collections import Counter
from collections.abc import Sequence

from grader.records.limited import limited
from grader.records.syntax import FUNCTIONS, LINE_ENDS, imported, parse, tree_of, walk

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
OURS = frozenset({"check", "experiment", "figure", "hint", "plot", "setup"})  # those of grader.notebook
# The address and the folder are the notebook's own. Neither can end the text that it stands in.
_PATTERN = re.escape(SETUP).replace(re.escape("{repository}"), r"[^\"\\\n]*").replace(re.escape("{folder}"), r"\w+")
IS_SETUP = re.compile(f"^{_PATTERN}$", re.M)  # whole lines, so that nothing can stand behind them


@limited
def without_ours(source: str) -> str:
    """The source of a .py file without our set-up and calls, as Jupyter and Colab save a notebook of ours as Python."""
    text = without_setup(source)
    return source if text == source else without_calls([text])[0]


def without_setup(source: str) -> str:
    """The source of a file or a cell with empty lines in place of our set-up."""
    lines = LINE_ENDS.split(source)
    text = "\n".join(map(str.rstrip, lines))
    found = IS_SETUP.search(text)
    if found is None:
        return source
    before, count = text[: found.start()].count("\n"), found[0].count("\n") + 1
    lines[before : before + count] = [""] * count
    return "\n".join(lines)


def without_calls(cells: Sequence[str]) -> list[str]:
    """The cells with `pass` for a call of ours that is a statement of its own, so that every line stays where it is.

    A function of the learner's that has the name of one of ours is called as ever.
    """
    own = {name for cell in cells for name in _bound(cell)}
    return [_without_calls(cell, OURS - own) for cell in cells]


def _without_calls(cell: str, names: frozenset[str]) -> str:
    tree = parse(cell) if any(name in cell for name in names) else None
    if tree is None:
        return cell
    lines = LINE_ENDS.split(cell)
    spans = [range(node.lineno, (node.end_lineno or node.lineno) + 1) for node in tree.body]
    shared = Counter(line for span in spans for line in span)
    for node, span in zip(tree.body, spans, strict=True):
        call = node.value if isinstance(node, ast.Expr) else None
        is_ours = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in names
        if is_ours and all(shared[line] == 1 for line in span):
            lines[span[0] - 1 : span[-1]] = ["pass", *[""] * (len(span) - 1)]
    return "\n".join(lines)


def _bound(cell: str) -> set[str]:
    """The names that a cell defines, imports or assigns anywhere."""
    nodes = walk(tree_of(cell))
    assigned = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    defined = {node.name for node in nodes if isinstance(node, (*FUNCTIONS, ast.ClassDef))}
    return assigned | defined | imported(nodes).keys()
