"""Makes documented_checks.py: the documented checks of one exercise, which a notebook runs without the grader.

It is assembled from the grader's own sources, so that a notebook judges by the same rules. It holds nothing hidden:
test_documented.py is the only file of checks that is read.
"""

import ast
from dataclasses import dataclass
from pathlib import Path

from grader import catalog
from grader.catalog import documented, paths
from grader.catalog.errors import InfrastructureError

NAME = "documented_checks.py"
HEADER = '''"""The documented checks of exercise {folder}: made from the grader's sources, not to be edited.

In a notebook beside this file: %load_ext documented_checks, then %documented 1 for the checks of task 1.
Hidden checks, on fresh inputs, are added when the notebook is graded.
"""'''
# The modules from which definitions are copied, each after those that it needs.
OURS = (
    "worker/codec",
    "catalog/documented",
    "judge/words",
    "judge/compare",
    "judge/renaming",
    "judge/promises",
    "sentence",
)
RUNNER = "integrations/nbgrader/in_notebook"


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
    runner, checks = paths.module(f"{RUNNER}.py"), paths.documented_checks(exercise.folder)
    offered = [definition for name in OURS for definition in _definitions(paths.module(f"{name}.py"))]
    own_definitions = [*_definitions(runner), *_definitions(checks)]
    copied = _needed(offered, own_definitions)
    owner: dict[str, Path] = {}
    for definition in [*copied, *own_definitions]:
        for name in definition.names:
            if owner.setdefault(name, definition.path) != definition.path:
                both = f"{paths.shown(owner[name])} and {paths.shown(definition.path)}"
                raise InfrastructureError(f"{name} is defined in {both}: rename the one of the check")
    files = [*dict.fromkeys(definition.path for definition in copied), runner, checks]
    used = frozenset().union(*(definition.uses for definition in [*copied, *own_definitions]))
    imports = sorted({line for path in files for line in _imports(path, used)})
    text_parts = [HEADER.format(folder=exercise.folder), "\n".join(imports)]
    # The runner's classes come first.
    ordered = sorted([*copied, *own_definitions], key=lambda d: (d.path == checks, d.path != runner))
    text_parts += [definition.text for definition in ordered if definition.path != checks]
    text_parts += [f"NUMBERS = {numbers!r}", *(definition.text for definition in ordered if definition.path == checks)]
    return "\n\n\n".join(text_parts) + "\n"


def _needed(offered: list[_Definition], own_definitions: list[_Definition]) -> list[_Definition]:
    """The offered definitions that these use, directly or not. Names that the checks define have priority."""
    defined = {
        name
        for definition in own_definitions
        if definition.path.name == paths.DOCUMENTED_CHECKS
        for name in definition.names
    }
    needed = {name for definition in own_definitions for name in definition.uses} - defined
    chosen: set[int] = set()
    while True:
        newly_needed = {i for i, definition in enumerate(offered) if i not in chosen and definition.names & needed}
        if not newly_needed:
            return [offered[index] for index in sorted(chosen)]
        chosen |= newly_needed
        needed |= {name for index in newly_needed for name in offered[index].uses}


def _definitions(path: Path) -> list[_Definition]:
    """All definitions at the top level of a module."""
    text = path.read_text("utf-8")
    lines, definitions = text.splitlines(), []
    for node in ast.parse(text).body:
        names = _defined(node)
        if names:
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
            uses = {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
            segment = "\n".join(lines[first - 1 : node.end_lineno])
            definitions.append(_Definition(path, frozenset(names), segment, frozenset(uses)))
    return definitions


def _defined(node: ast.stmt) -> set[str]:
    """The names that a statement defines."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    parts = [part for target in targets if target is not None for part in ast.walk(target)]  # a, b = 1, 2 too
    return {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}


def _imports(path: Path, used: frozenset[str]) -> list[str]:
    """The imports of a module from outside the grader, as far as they are used."""
    lines = []
    for node in ast.parse(path.read_text("utf-8")).body:
        module = getattr(node, "module", None) or ""
        if not isinstance(node, (ast.Import, ast.ImportFrom)) or getattr(node, "level", 0):
            continue
        if module.partition(".")[0] == "grader":
            continue
        for alias in node.names:
            if (alias.asname or alias.name.partition(".")[0]) in used:
                statement = ast.Import([alias]) if isinstance(node, ast.Import) else ast.ImportFrom(module, [alias], 0)
                lines.append(ast.unparse(statement))
    return lines
