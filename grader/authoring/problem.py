"""A problem of an exercise as `make verify` shows it, and the places in files that a problem can name."""

import ast
import re
from dataclasses import dataclass
from pathlib import Path

from grader.catalog import paths


@dataclass(frozen=True)
class Problem:
    """One defect of an exercise.

    line: from 1 on, 0 where the whole file is meant; mend: the edit or command that repairs it; blocks: whether the
    checks can only be run once it is repaired.
    """

    reason: str
    file: Path
    mend: str
    line: int = 0
    blocks: bool = False

    def __str__(self) -> str:
        place = f"{paths.shown(self.file)}:{self.line}" if self.line else paths.shown(self.file)
        return f"{place}: {self.reason}\n    {self.mend}"


def again(folder: str) -> str:
    """The command that verifies the exercise again."""
    return f"make verify EX={folder[:2]}"


def check_places(folder: str) -> dict[str, tuple[Path, int]]:
    """Check → its file and line, for all checks of an exercise."""
    places = {}
    for path in paths.checks(folder):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                places[node.name.removeprefix("test_")] = (path, node.lineno)
    return places


def line_of(path: Path, pattern: str) -> int:
    """The number of the first line of a file that matches a regular expression, 0 where none does."""
    lines = path.read_text("utf-8").split("\n")
    return next((number for number, line in enumerate(lines, 1) if re.search(pattern, line)), 0)
