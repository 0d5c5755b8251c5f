"""Finds source that uses the introspection of Python or torch, or computes names that a reader does not see.

The record of operations (worker/op_record.py) is made in the learner's own process, where such code can change it. The
grader cannot see that from outside, so the notes tell a person which lines to read.
"""

import ast
import functools
from collections.abc import Callable
from dataclasses import dataclass

from grader.records.forbidden import MAX_USES, Use
from grader.records.introspection_rules import hidden_names, reached_names
from grader.records.limited import limited
from grader.records.places import place
from grader.records.sanitize import inert
from grader.records.syntax import followed, imported, parsed

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
BINDING = (*FUNCTIONS, ast.Assign, ast.AnnAssign, ast.NamedExpr, ast.For, ast.AsyncFor, ast.comprehension, ast.withitem)
RELEVANT = (ast.Import, ast.ImportFrom, ast.Name, ast.Attribute, ast.Call)
MAX_LISTED = 3  # places that one note lists
MAX_NAME = 60  # characters of a name


def reaches(source: str) -> tuple[Use, ...]:
    """The uses of introspection in a source, by line: the first MAX_USES. A source that does not parse has none.

    Raises BadSubmission, as all functions here, where reading the source exceeds a limit.
    """
    return tuple(Use(name, line, "") for name, line in _reaches(source))


def notes(source: str) -> tuple[str, ...]:
    """The notes on a source for the teacher, one line each."""
    return tuple(_notes(source))


@limited
def aliases(source: str) -> dict[str, str]:
    """The names that the source imports anywhere, and what they stand for."""
    return _inspected(source).aliases


@limited
def _reaches(source: str) -> list[tuple[str, int]]:
    return _uses(source, reached_names)[:MAX_USES]


@limited
def _notes(source: str) -> list[str]:
    notes = []
    for test, sentence in (
        (reached_names, "The source reaches into Python's or torch's machinery, where a guard rail can be undone"),
        (hidden_names, "The source puts names or code together while it runs, where no guard rail reads them"),
    ):
        uses = _uses(source, test)
        listed = ", ".join(f"{place(source, line)}: {name}" for name, line in uses[:MAX_LISTED])
        addition = f" and {len(uses) - MAX_LISTED} more" if len(uses) > MAX_LISTED else ""
        if uses:
            notes.append(inert(f"{sentence} ({listed}{addition}). A person should look at it."))
    return notes


def _uses(source: str, test: Callable[[ast.AST, dict[str, str]], list[str]]) -> list[tuple[str, int]]:
    """The names that `test(node, aliases)` returns for the nodes of the source, each with its line, by line."""
    inspected = _inspected(source)
    uses = {(node.lineno, name[:MAX_NAME]) for node in inspected.nodes for name in test(node, inspected.aliases)}
    return [(name, line) for line, name in sorted(uses)]


@dataclass(frozen=True)
class _Inspected:
    """The relevant nodes of a source by line, of a chain a.b.c only the whole; and what imported names stand for."""

    nodes: tuple[ast.stmt | ast.expr, ...]
    aliases: dict[str, str]


@functools.lru_cache(maxsize=1)
def _inspected(source: str) -> _Inspected:
    tree = parsed(source)
    if tree is None:
        return _Inspected((), {})
    nodes: list[ast.stmt | ast.expr] = []
    binding: list[ast.AST] = []
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, RELEVANT):
            nodes.append(node)
        elif isinstance(node, BINDING):
            binding.append(node)
            if isinstance(node, FUNCTIONS):
                nodes.append(node)
        while isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute):
            node = node.value
        for field in node._fields:  # as ast.iter_child_nodes does, in a third of its time
            value = getattr(node, field, None)
            if isinstance(value, ast.AST):
                waiting.append(value)
            elif isinstance(value, list):
                waiting += [item for item in value if isinstance(item, ast.AST)]
    nodes.sort(key=lambda node: node.lineno)
    return _Inspected(tuple(nodes), followed(binding, imported(nodes)))
