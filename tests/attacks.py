"""The hostile files of tests/hostile: a Markdown file for each class, `## name` and a block of Python for each attack.

The first lines of each say the exercise, the verdict that it deserves, and what it tries. Functions and classes of the
exercise that it does not define are those of the solution, placed before it; `# whole: yes` leaves it as it is.
"""

import ast
import re
from dataclasses import dataclass
from pathlib import Path

from grader import catalog
from grader.catalog import paths

HOSTILE = Path(__file__).parent / "hostile"
BLOCK = re.compile(r"^## (\S+)\n```python\n(.*?)^```$", re.M | re.S)
HEADER = re.compile(r"^# (exercise|verdict|tries|whole|note|appends): (.+)$", re.M)


@dataclass(frozen=True)
class Attack:
    """One file, and what its header says of it.

    group: "B_fooling_the_comparison"; note: what the note for the teacher names; appends: Python that gives more text.
    """

    group: str
    title: str
    source: str
    exercise: str
    verdict: str
    note: str
    appends: str

    @property
    def name(self) -> str:
        return f"{self.group[0]}{self.title}"


def read(path: Path) -> list[Attack]:
    """The attacks of one class."""
    found = []
    for title, source in BLOCK.findall(path.read_text("utf-8")):
        facts = dict(reversed(HEADER.findall(source)))
        assert {"exercise", "verdict", "tries"} <= set(facts), f"{path}: {title} lacks its header"
        rest = (facts.get(key, "") for key in ("exercise", "verdict", "note", "appends"))
        whole = source if "whole" in facts else complete(source, facts["exercise"])
        found.append(Attack(path.stem, title, whole, *rest))
    return found


def complete(source: str, exercise: str) -> str:
    """The file with what it lacks of the solution before it; a file that is no Python as it is."""
    try:
        own = set(definitions(ast.parse(source)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return source
    solution = paths.solution(catalog.find(exercise).folder).read_text("utf-8")
    tree = ast.parse(solution)
    lacking = [node for name, node in definitions(tree).items() if name not in own]
    imports = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    return "".join(f"{ast.unparse(node)}\n" for node in (imports + lacking if lacking else [])) + source


def definitions(tree: ast.Module) -> dict[str, ast.stmt]:
    """The functions and classes of a module."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return {node.name: node for node in tree.body if isinstance(node, kinds)}


ATTACKS = [attack for path in sorted(HOSTILE.glob("*.md")) for attack in read(path)]
