"""The hostile files of tests/hostile: a Markdown file for each class, `## name` and a block of Python for each attack.

The first lines of each say the exercise, the verdict that it deserves, and what it tries. What several attacks do is in
parts.md: `# before: libc, wrong_01` and `# after: tell` name the parts around a block. Functions, classes and methods
of the exercise that are in none of these are those of the solution; `# whole: yes` leaves the block as it is.
"""

import ast
import functools
import re
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from grader import catalog
from grader.catalog import paths

HOSTILE = Path(__file__).parent / "hostile"
BLOCK = re.compile(r"^## (\S+)\n```python\n(.*?)^```$", re.M | re.S)
HEADER = re.compile(r"^# (exercise|verdict|tries|whole|note|appends|before|after): (.+)$", re.M)
PARTS = HOSTILE / "parts.md"


@dataclass(frozen=True)
class Attack:
    """One file, and what its header says of it.

    group: "B_fooling_the_comparison"; text: its block; note: what the note for the teacher names; appends: Python that
    gives more text; before, after: names of parts; whole: whether the block is the file.
    """

    group: str
    title: str
    text: str
    exercise: str
    verdict: str
    note: str
    appends: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    whole: bool

    @property
    def name(self) -> str:
        return f"{self.group[0]}{self.title}"

    @functools.cached_property
    def source(self) -> str:
        """The file, without what it appends."""
        return self.text if self.whole else complete(self)


def read(path: Path) -> list[Attack]:
    found = []
    for title, text in BLOCK.findall(path.read_text("utf-8")):
        facts = dict(reversed(HEADER.findall(text)))
        assert {"exercise", "verdict", "tries"} <= set(facts), f"{path}: {title} lacks its header"
        rest = (facts.get(key, "") for key in ("exercise", "verdict", "note", "appends"))
        before, after = (tuple(re.findall(r"\w+", facts.get(key, ""))) for key in ("before", "after"))
        found.append(Attack(path.stem, title, text, *rest, before, after, "whole" in facts))
    return found


def complete(attack: Attack) -> str:
    """The file with its parts and with what it lacks of the solution; a file that is no Python as it is."""
    try:
        own = ast.parse(attack.text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return attack.text
    known = set(definitions(own))
    after, before = (lacking((parts()[name] for name in names), known) for names in (attack.after, attack.before))
    model = solution(attack.exercise)
    imports = [node for node in model.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    functions = lacking([ast.Module([*definitions(model).values()], [])], known)
    first, last = ("".join(map(written, nodes)) for nodes in (imports + functions + before, after))
    return first + with_methods(attack.text, own, model) + last


def lacking(modules: Iterable[ast.Module], known: set[str]) -> list[ast.stmt]:
    """The statements of these modules, without the functions and classes that are known; what they define is then."""
    found = []
    for module in modules:
        found += [node for node in module.body if getattr(node, "name", None) not in known]
        known |= set(definitions(module))
    return found


def with_methods(text: str, own: ast.Module, model: ast.Module) -> str:
    """The text, in which a class of the solution's has also those methods that the text does not define."""
    lines = text.split("\n")
    for name, node in reversed(definitions(own).items()):
        other = definitions(model).get(name)
        if isinstance(node, ast.ClassDef) and isinstance(other, ast.ClassDef):
            methods = [method for called, method in definitions(other).items() if called not in definitions(node)]
            lines[node.end_lineno : node.end_lineno] = [textwrap.indent(written(method), "    ") for method in methods]
    return "\n".join(lines)


def definitions(tree: ast.Module | ast.ClassDef) -> dict[str, ast.stmt]:
    """The functions and classes of a module, or the methods of a class."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return {node.name: node for node in tree.body if isinstance(node, kinds)}


@functools.cache
def written(node: ast.stmt) -> str:
    return f"{ast.unparse(node)}\n"


@functools.cache
def solution(exercise: str) -> ast.Module:
    return ast.parse(paths.solution(catalog.find(exercise).folder).read_text("utf-8"))


@functools.cache
def parts() -> dict[str, ast.Module]:
    return {name: ast.parse(text) for name, text in BLOCK.findall(PARTS.read_text("utf-8"))}


ATTACKS = [attack for path in sorted(HOSTILE.glob("[A-Z]_*.md")) for attack in read(path)]
