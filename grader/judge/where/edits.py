"""A source as a tree that small changes are made to, one at a time, and the changes themselves."""

import ast
import contextlib
import textwrap
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from grader.records.syntax import FUNCTIONS

MAX_NODES = 6_000  # of a source that is searched; answers to exercises have some 500
Function = ast.FunctionDef | ast.AsyncFunctionDef
Replacement = tuple[
    Any, str, int, tuple[Any, ...] | None
]  # what stands there instead, and kind, tier, sign of its Edit


@dataclass(frozen=True)
class Change:
    """One slot of the tree and what comes into it: `parent.field`, or `parent.field[index]`.

    new: what comes there, or a function that makes it: of a thousand edits a few hundred are tried.
    """

    parent: ast.AST
    field: str
    index: int | None
    new: Any

    @property
    def value(self) -> Any:
        """What comes there."""
        return self.new() if callable(self.new) else self.new

    def old(self) -> Any:
        held = getattr(self.parent, self.field)
        return held if self.index is None else held[self.index]

    def put(self, value: Any) -> None:
        if self.index is None:
            setattr(self.parent, self.field, value)
        else:
            getattr(self.parent, self.field)[self.index] = value


@dataclass(frozen=True)
class Edit:
    """Changes that are made together.

    line: where, counted as editors do; kind: what is changed, in words that do not tell how ("an argument of softmax");
    tier: 0 for what mends many mistakes, up to 3; sign: edits of one sign in one function may be made all at once, None
    for one that stands alone.
    """

    changes: tuple[Change, ...]
    line: int
    kind: str
    tier: int
    sign: tuple[Any, ...] | None = None
    lines: tuple[int, ...] = ()  # of all changes, where there are several


@dataclass(frozen=True)
class Unit:
    """A function of the source, or a method: where edits are searched. name: "softmax", "CausalAttention.forward"."""

    name: str
    node: Function
    owner: ast.ClassDef | None
    top: int  # which statement of the module holds it

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
        self.units = tuple(self._units())
        self._by_node: dict[int, dict[int, int]] = {}  # see _numbers

    def changed(self, changes: tuple[Change, ...], tops: set[int]) -> str:
        """The source with changes made to these statements of the module, which are written anew."""
        with made(changes):
            new = {top: ast.unparse(self.module.body[top]) for top in tops}
        return self._with(new)

    def edited(self, unit: Unit, changes: tuple[Change, ...]) -> str:
        """The source with changes made to one definition."""
        return self.with_text(unit, self.text(unit, changes))

    def with_text(self, unit: Unit, text: str) -> str:
        """The source with this text in the place of a definition."""
        start, end = span(unit.node)
        return "\n".join([*self.lines[: start - 1], text, *self.lines[end:]]) + "\n"

    def text(self, unit: Unit, changes: tuple[Change, ...]) -> str:
        """The text of a definition with changes made to it. What stands on its own lines alone is written anew."""
        numbers = {self._numbers(unit).get(id(change.parent)) for change in changes}
        number = numbers.pop() if len(numbers) == 1 else None
        node = unit.node if number is None else unit.node.body[number]
        with made(changes):
            text = ast.unparse(node)
        start, end = span(unit.node)
        if number is None:
            return textwrap.indent(text, " " * unit.node.col_offset) if unit.owner is not None else text
        indented = textwrap.indent(text, _indentation(self.lines[node.lineno - 1]))
        return "\n".join([*self.lines[start - 1 : node.lineno - 1], indented, *self.lines[node.end_lineno : end]])

    def _numbers(self, unit: Unit) -> dict[int, int]:
        """Of the nodes of a definition, by `id`, the number of the statement that holds it, if that has lines alone."""
        if id(unit.node) not in self._by_node:
            found = self._by_node[id(unit.node)] = {}
            ends = [unit.node.lineno - 1, *(node.end_lineno or node.lineno for node in unit.node.body)]
            starts = [*(node.lineno for node in unit.node.body[1:]), ends[-1] + 1]
            for number, node in enumerate(unit.node.body):
                line = self.lines[node.lineno - 1]
                is_first = ends[number] < node.lineno and len(_indentation(line)) == len(line[: node.col_offset])
                if is_first and not getattr(node, "decorator_list", []) and starts[number] > (node.end_lineno or 0):
                    found |= dict.fromkeys(map(id, ast.walk(node)), number)
        return self._by_node[id(unit.node)]

    def _with(self, new: dict[int, str]) -> str:
        parts, at = [], 0
        for top in sorted(new):
            start, end = span(self.module.body[top])
            parts += [*self.lines[at : start - 1], new[top]]
            at = end
        return "\n".join([*parts, *self.lines[at:]]) + "\n"

    def _units(self) -> Iterator[Unit]:
        for top, node in enumerate(self.module.body):
            if isinstance(node, FUNCTIONS):
                yield Unit(node.name, node, None, top)
            elif isinstance(node, ast.ClassDef):
                methods = [part for part in node.body if isinstance(part, FUNCTIONS)]
                yield from (Unit(f"{node.name}.{method.name}", method, node, top) for method in methods)


@contextlib.contextmanager
def made(changes: tuple[Change, ...]) -> Iterator[None]:
    """The tree with the changes, and afterwards as it was."""
    old = []
    try:
        for change in changes:
            old.append((change, change.old()))
            change.put(change.value)
        yield
    finally:
        for change, value in reversed(old):
            change.put(value)


def together(edits: list[Edit]) -> Iterator[Edit]:
    """The edits of one sign, all at once: three layers that lack the same argument."""
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
    """The first and the last line of a statement, its decorators with it."""
    decorators = getattr(node, "decorator_list", [])
    return min([node.lineno, *(one.lineno for one in decorators)]), node.end_lineno or node.lineno


def _indentation(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]
