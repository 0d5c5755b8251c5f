"""The solutions as texts, with what a learner wrote otherwise."""

import ast
import textwrap
from pathlib import Path
from typing import Any

from grader import catalog
from grader.catalog import mistakes, patches, paths
from grader.catalog.mistakes import Mistake
from grader.catalog.project import read_toml

UNWRITTEN = "raise NotImplementedError"


def solution(exercise: str) -> str:
    return paths.solution(catalog.find(exercise).folder).read_text("utf-8")


def replace_in(exercise: str, *changes: tuple[str, str]) -> str:
    """The solution with other texts in the place of some, which are there."""
    source = solution(exercise)
    for old, new in changes:
        assert old in source, old
        source = source.replace(old, new)
    return source


def with_mistakes(exercise: str, *names: str) -> str:
    return patches.merge(solution(exercise), *(mistake(exercise, name).source for name in names))


def mistake(exercise: str, name: str) -> Mistake:
    return next(one for one in mistakes.mistakes(catalog.find(exercise).folder) if one.name == name)


def sentence(exercise: str, name: str) -> str:
    return mistake(exercise, name).sentence


def rows(name: str) -> list[dict[str, Any]]:
    """The rows of a table of tests/judge, each with its exercise."""
    table = read_toml(Path(__file__).parent / "judge" / name)
    return [{"exercise": number, **row} for number, found in table.items() for row in found]


def written(row: dict[str, Any]) -> str:
    """The file of a row: the solution with a `change`, with other `bodies`, or with functions that are `unwritten`."""
    source = solution(row["exercise"])
    for old, new in row.get("change", ()):
        assert old in source, old
        source = source.replace(old, new, 1)
    bodies = row.get("bodies", {}) | dict.fromkeys(row.get("unwritten", ()), UNWRITTEN)
    return source if not bodies else with_bodies(source, {name: body.strip("\n") for name, body in bodies.items()})


def with_bodies(source: str, bodies: dict[str, str]) -> str:
    """The source in which these functions and methods ("C.f") have other bodies, below their docstrings."""
    tree, lines = ast.parse(source), source.splitlines()
    found = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    for owner in (node for node in tree.body if isinstance(node, ast.ClassDef)):
        found |= {f"{owner.name}.{node.name}": node for node in owner.body if isinstance(node, ast.FunctionDef)}
    for name, node in sorted(found.items(), key=lambda pair: -pair[1].lineno):
        if name in bodies:
            first = node.body[0].end_lineno if ast.get_docstring(node) else node.body[0].lineno - 1
            indent = " " * node.body[0].col_offset
            lines[first : node.end_lineno] = textwrap.indent(bodies[name], indent).splitlines()
    assert bodies.keys() <= found.keys(), bodies
    return "\n".join(lines) + "\n"
