"""documented_checks.py: the documented checks of one exercise, to run in a notebook without the grader.

Put together from the grader's own sources, so that a notebook judges by the same rules. Nothing hidden
goes in: of the checks, test_documented.py alone is read.
"""

import ast
from dataclasses import dataclass
from pathlib import Path

from grader import catalog, documented, paths
from grader.nursery import InfrastructureError

NAME = "documented_checks.py"
HEADER = '''"""The documented checks of exercise {folder}: made from the grader's sources, not to be edited.

In a notebook beside this file: %load_ext documented_checks, then %documented 1 for the checks of task 1.
Hidden checks, on fresh inputs, are added when the notebook is graded.
"""'''
# Where definitions are taken from, the first before those that build on it.
OURS = ("worker/trees", "words", "compare", "properties", "documented", "sentence")
RUNNER = "nbgrader/in_notebook"


@dataclass(frozen=True)
class _Definition:
    """One top-level statement that defines names, as text, and the names that it uses."""

    path: Path
    names: frozenset[str]
    text: str
    uses: frozenset[str]


def source(exercise: catalog.Exercise) -> str:
    """The text of one exercise's documented_checks.py.

    Raises InfrastructureError where a check and the grader define the same name.
    """
    numbers: dict[str, dict[str, str]] = {}
    for number in documented.numbers(exercise.folder):
        numbers.setdefault(f"test_{number.check}", {})[number.id] = number.printed
    runner, checks = paths.GRADER / f"{RUNNER}.py", paths.documented_checks(exercise.folder)
    offered = [found for name in OURS for found in _definitions(paths.GRADER / f"{name}.py")]
    own = [*_definitions(runner), *_definitions(checks)]
    taken = _needed(offered, own)
    owner: dict[str, Path] = {}
    for definition in [*taken, *own]:
        for name in definition.names:
            if owner.setdefault(name, definition.path) != definition.path:
                both = f"{paths.shown(owner[name])} and {paths.shown(definition.path)}"
                raise InfrastructureError(f"{name} is defined in {both}: rename the one of the check")
    files = [*dict.fromkeys(definition.path for definition in taken), runner, checks]
    used = frozenset().union(*(definition.uses for definition in [*taken, *own]))
    imports = sorted({line for path in files for line in _imports(path, used)})
    parts = [HEADER.format(folder=exercise.folder), "\n".join(imports)]
    ordered = sorted([*taken, *own], key=lambda d: (d.path == checks, d.path != runner))  # the runner's classes first
    parts += [definition.text for definition in ordered if definition.path != checks]
    parts += [f"NUMBERS = {numbers!r}", *(definition.text for definition in ordered if definition.path == checks)]
    return "\n\n\n".join(parts) + "\n"


def _needed(offered: list[_Definition], own: list[_Definition]) -> list[_Definition]:
    """Of what is offered, what `own` uses, and what that uses in turn; names of `own` go before."""
    defined = {
        name for definition in own if definition.path.name == paths.DOCUMENTED_CHECKS for name in definition.names
    }
    wanted = {name for definition in own for name in definition.uses} - defined
    taken: set[int] = set()
    while True:
        more = {i for i, definition in enumerate(offered) if i not in taken and definition.names & wanted}
        if not more:
            return [offered[index] for index in sorted(taken)]
        taken |= more
        wanted |= {name for index in more for name in offered[index].uses}


def _definitions(path: Path) -> list[_Definition]:
    text = path.read_text("utf-8")
    lines, found = text.splitlines(), []
    for node in ast.parse(text).body:
        names = _defined(node)
        if names:
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
            uses = {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
            segment = "\n".join(lines[first - 1 : node.end_lineno])
            found.append(_Definition(path, frozenset(names), segment, frozenset(uses)))
    return found


def _defined(node: ast.stmt) -> set[str]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return {target.id for target in targets if isinstance(target, ast.Name)}


def _imports(path: Path, used: frozenset[str]) -> list[str]:
    """The imports of a module that are not of ours, as far as they are used."""
    found = []
    for node in ast.parse(path.read_text("utf-8")).body:
        module = getattr(node, "module", None) or ""
        if not isinstance(node, (ast.Import, ast.ImportFrom)) or getattr(node, "level", 0):
            continue
        if module.partition(".")[0] == "grader":
            continue
        for alias in node.names:
            if (alias.asname or alias.name.partition(".")[0]) in used:
                one = ast.Import([alias]) if isinstance(node, ast.Import) else ast.ImportFrom(module, [alias], 0)
                found.append(ast.unparse(one))
    return found
