"""The syntax tree of a source, small changes of it, and the source with such changes."""

import ast
import contextlib
import functools
import textwrap
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from grader.records.syntax import FUNCTIONS, is_text, is_unwritten

MAX_NODES = 6_000  # of a source that is searched; answers to exercises have some 500
Function = ast.FunctionDef | ast.AsyncFunctionDef
Replacement = tuple[Any, str, int, tuple[Any, ...] | None]  # a new node, and the kind, tier and sign of its Edit


@dataclass(frozen=True)
class Change:
    """A new value of one slot of the tree: `parent.field`, or `parent.field[index]`.

    new: the value, or a function that makes it, since of a thousand edits only a few hundred are tried.
    """

    parent: ast.AST
    field: str
    index: int | None
    new: Any

    @property
    def value(self) -> Any:
        """The new value."""
        return self.new() if callable(self.new) else self.new

    def old(self) -> Any:
        container = getattr(self.parent, self.field)
        return container if self.index is None else container[self.index]

    def put(self, value: Any) -> None:
        if self.index is None:
            setattr(self.parent, self.field, value)
        else:
            getattr(self.parent, self.field)[self.index] = value


@dataclass(frozen=True)
class Edit:
    """Changes that are made together.

    line: of the changed code, counted from 1. kind: what is changed, in words that do not tell how ("an argument of
    softmax"). tier: 0 for what mends many mistakes, up to 3 for what mends few. sign: edits of equal sign in one
    function may be made together; None for one that is made alone. lines: of all changes, where there are several.
    """

    changes: tuple[Change, ...]
    line: int
    kind: str
    tier: int
    sign: tuple[Any, ...] | None = None
    lines: tuple[int, ...] = ()


@dataclass(frozen=True)
class Unit:
    """A function or a method of the source. name: "softmax", "CausalAttention.forward"; owner: the class of a method.

    top: the number of the statement of the module that holds it.
    """

    name: str
    node: Function
    owner: ast.ClassDef | None
    top: int

    @property
    def is_unwritten(self) -> bool:
        """Whether its body is the stub's."""
        return is_unwritten(self.node.body[-1])

    @property
    def lines(self) -> range:
        first, last = span(self.node)
        return range(first, last + 1)


class Tree:
    """A parsed source. Raises SyntaxError or ValueError where it cannot be searched."""

    def __init__(self, source: str):
        self.module = ast.parse(source)
        if sum(1 for _ in ast.walk(self.module)) > MAX_NODES:
            raise ValueError("the source is too long to be searched")
        self.lines = source.splitlines()
        self.units = self._units()
        self._by_node: dict[int, dict[int, int]] = {}  # see _numbers

    @functools.cached_property
    def silent(self) -> frozenset[int]:
        """The lines that hold no code to look at: docstrings, and bodies that are not written yet."""
        nodes = [node for node in ast.walk(self.module) if isinstance(node, ast.stmt)]
        silent = [node for node in nodes if is_text(node) or is_unwritten(node)]
        return frozenset(line for node in silent for line in range(node.lineno, (node.end_lineno or node.lineno) + 1))

    def changed(self, changes: tuple[Change, ...], tops: set[int]) -> str:
        """The source with changes. tops: the numbers of the module's changed statements, which are written anew."""
        with applied(changes):
            new_texts = {top: ast.unparse(self.module.body[top]) for top in tops}
        return self._with(new_texts)

    def edited(self, unit: Unit, changes: tuple[Change, ...]) -> str:
        """The source with changes made to one definition."""
        return self.with_text(unit, self.text(unit, changes))

    def with_text(self, unit: Unit, text: str) -> str:
        """The source with a definition replaced by this text."""
        start, end = span(unit.node)
        return "\n".join([*self.lines[: start - 1], text, *self.lines[end:]]) + "\n"

    def text(self, unit: Unit, changes: tuple[Change, ...]) -> str:
        """The text of a definition with changes. Where possible only the changed statement is written anew."""
        numbers = {self._numbers(unit).get(id(change.parent)) for change in changes}
        number = numbers.pop() if len(numbers) == 1 else None
        node = unit.node if number is None else unit.node.body[number]
        with applied(changes):
            text = ast.unparse(node)
        start, end = span(unit.node)
        if number is None:
            return textwrap.indent(text, " " * unit.node.col_offset) if unit.owner is not None else text
        indented = textwrap.indent(text, _indentation(self.lines[node.lineno - 1]))
        return "\n".join([*self.lines[start - 1 : node.lineno - 1], indented, *self.lines[node.end_lineno : end]])

    def _numbers(self, unit: Unit) -> dict[int, int]:
        """The number of the statement of a definition's body that holds a node, by the `id` of the node.

        Statements that share a line with another one are left out.
        """
        if id(unit.node) not in self._by_node:
            numbers = self._by_node[id(unit.node)] = {}
            ends = [unit.node.lineno - 1, *(node.end_lineno or node.lineno for node in unit.node.body)]
            starts = [*(node.lineno for node in unit.node.body[1:]), ends[-1] + 1]
            for number, node in enumerate(unit.node.body):
                line = self.lines[node.lineno - 1]
                is_first = ends[number] < node.lineno and len(_indentation(line)) == len(line[: node.col_offset])
                if is_first and not getattr(node, "decorator_list", []) and starts[number] > (node.end_lineno or 0):
                    numbers |= dict.fromkeys(map(id, ast.walk(node)), number)
        return self._by_node[id(unit.node)]

    def _with(self, new_texts: dict[int, str]) -> str:
        lines, end_of_last = [], 0
        for top in sorted(new_texts):
            start, end = span(self.module.body[top])
            lines += [*self.lines[end_of_last : start - 1], new_texts[top]]
            end_of_last = end
        return "\n".join([*lines, *self.lines[end_of_last:]]) + "\n"

    def _units(self) -> tuple[Unit, ...]:
        """The last definition of each name. A function that is assigned to a class under its own name is a method."""
        units: dict[str, Unit] = {}
        for top, node in enumerate(self.module.body):
            if isinstance(node, FUNCTIONS):
                units[node.name] = Unit(node.name, node, None, top)
            elif isinstance(node, ast.ClassDef):
                if not any(isinstance(base, ast.Name) and base.id == node.name for base in node.bases):
                    units = {name: unit for name, unit in units.items() if not name.startswith(f"{node.name}.")}
                methods = [statement for statement in node.body if isinstance(statement, FUNCTIONS)]
                own = [Unit(f"{node.name}.{method.name}", method, node, top) for method in methods]
                units |= {unit.name: unit for unit in own}
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute):
                name, function = ast.unparse(node.targets[0]), ast.unparse(node.value)
                if function in units and name.endswith(f".{function}"):
                    units[name] = replace(units.pop(function), name=name)
        return tuple(units.values())


@contextlib.contextmanager
def applied(changes: tuple[Change, ...]) -> Iterator[None]:
    """Make the changes for the time of the block, and undo them afterwards."""
    old_values = []
    try:
        for change in changes:
            old_values.append((change, change.old()))
            change.put(change.value)
        yield
    finally:
        for change, value in reversed(old_values):
            change.put(value)


def together(edits: list[Edit]) -> Iterator[Edit]:
    """For each sign the edit that makes all edits of it at once, for example in three layers that lack one argument."""
    groups: dict[tuple[Any, ...], list[Edit]] = defaultdict(list)
    for edit in edits:
        if edit.sign is not None:
            groups[edit.sign].append(edit)
    for sign, group in groups.items():
        slots = {(id(change.parent), change.field, change.index) for edit in group for change in edit.changes}
        if 2 <= len(group) <= 8 and len(slots) == sum(len(edit.changes) for edit in group):
            changes = tuple(change for edit in group for change in edit.changes)
            lines = tuple(sorted({edit.line for edit in group}))
            yield Edit(changes, lines[0], group[0].kind, group[0].tier, (*sign, "all"), lines)


def span(node: ast.stmt) -> tuple[int, int]:
    """The first and the last line of a statement, with its decorators."""
    decorators = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)]), node.end_lineno or node.lineno


def _indentation(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]
