"""Reads Python source as a syntax tree: its nodes, imported names, what a dotted name stands for, and places in it.

A notebook's code is one source, in which a title precedes each cell. Cells are numbered from 1, as in Jupyter.
"""

import ast
import functools
import re
from collections.abc import Iterable

LINE_ENDS = re.compile(r"\r\n|\r|\n")
TITLE = re.compile(r"# --- (?:cell (\d+)|In \[(\d+)\]) ---")
MAX_PARTS = 30  # of a dotted name; no library has a longer one, and a chain of thousands takes seconds to read


@functools.lru_cache(maxsize=1)
def parse(source: str) -> ast.Module | None:
    """The syntax tree, parsed once; None where the source is not Python (loading it reports why).

    A stranger's source is parsed only in functions that are `limited`. There a tree that is too deep or too large
    raises RecursionError or MemoryError, which ends the call: no rule would have been applied to such a source.
    """
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError):
        return None


def tree_of(source: str) -> ast.Module:
    """The syntax tree, as `parse` gives it; one without statements where the source is not Python."""
    return parse(source) or ast.Module([], [])


def is_text(node: ast.AST) -> bool:
    """Whether a node is a statement that is only a constant, as a docstring is."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def imported(nodes: Iterable[ast.AST]) -> dict[str, str]:
    """The imported names and what they stand for: {"F": "torch.nn.functional", "sm": "torch.softmax"}."""
    aliases = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                bound_name = alias.name.partition(".")[0]  # what `import torch.nn` binds
                aliases[alias.asname or bound_name] = alias.name if alias.asname else bound_name
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                aliases[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return aliases


def dotted(node: ast.AST, aliases: dict[str, str]) -> list[str]:
    """The parts of a dotted name: ["torch", "nn", "functional", "softmax"] for F.softmax.

    A chain of attributes on anything but a name begins with "", as does what MAX_PARTS leave of a longer one.
    """
    parts: list[str] = []
    while isinstance(node, ast.Attribute) and len(parts) < MAX_PARTS:
        parts.append(node.attr)
        node = node.value
    root = node.id if isinstance(node, ast.Name) else ""
    return [*aliases.get(root, root).split("."), *reversed(parts)]


def is_notebook(source: str) -> bool:
    """Whether a source is a notebook's: it begins with a title."""
    return TITLE.match(source) is not None


def place(source: str, line: int) -> str:
    """A line of the source, in words."""
    cell, number = cell_and_line(source, line)
    return f"cell {cell}, line {number}" if cell else f"line {number}"


def cell_and_line(source: str, line: int) -> tuple[int, int]:
    """The cell of a notebook that holds a line, and the line in it; cell 0 where it is in no cell."""
    if is_notebook(source):
        for back, text in enumerate(reversed(LINE_ENDS.split(source)[:line])):
            if back and (title := TITLE.fullmatch(text)):
                return int(title[1] or title[2]), back
    return 0, line


def in_file(source: str, filename: str, line: int) -> str:
    """A line with the file's name: "scores.py:60", which terminals show as a link; "scores.ipynb, cell 7, line 3"."""
    return f"{filename}, {place(source, line)}" if is_notebook(source) else f"{filename}:{line}"
