"""Makes small changes in a syntax tree: the edits, the tree that they apply to, and what they may use."""

import ast
import contextlib
import functools
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, TypeGuard

from grader.catalog.patches import FUNCTION
from grader.catalog.stubs import is_unwritten
from grader.records.syntax import is_text

MAX_NODES = 6_000  # of a source that is searched; answers to exercises have some 500
Function = ast.FunctionDef | ast.AsyncFunctionDef
MISSING = "something may have to be added there"
COMPUTED = "what is computed there"
SLIP = -1  # the tier of an edit that undoes a very common slip: few of each source, and tried before the others


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
    softmax"). tier: 0 for what fixes many mistakes, up to 3 for what fixes few, or SLIP. sign: edits of equal sign in
    one function may be made together; None for one that is made alone. lines: of all changes, where there are several.
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

    @functools.cached_property
    def silent(self) -> frozenset[int]:
        """The lines that hold no code to look at: docstrings, and bodies that are not written yet."""
        nodes = [node for node in ast.walk(self.module) if isinstance(node, ast.stmt)]
        silent = [node for node in nodes if is_text(node) or is_unwritten(node)]
        return frozenset(line for node in silent for line in range(node.lineno, (node.end_lineno or node.lineno) + 1))

    def changed(self, changes: tuple[Change, ...], tops: set[int]) -> str:
        """The source with changes. tops: the numbers of the module's changed statements, which are written again."""
        with apply(changes):
            new_texts = {top: ast.unparse(self.module.body[top]) for top in tops}
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
            if isinstance(node, FUNCTION):
                units[node.name] = Unit(node.name, node, None, top)
            elif isinstance(node, ast.ClassDef):
                if not any(isinstance(base, ast.Name) and base.id == node.name for base in node.bases):
                    units = {name: unit for name, unit in units.items() if not name.startswith(f"{node.name}.")}
                methods = [statement for statement in node.body if isinstance(statement, FUNCTION)]
                own = [Unit(f"{node.name}.{method.name}", method, node, top) for method in methods]
                units |= {unit.name: unit for unit in own}
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute):
                name, function = ast.unparse(node.targets[0]), ast.unparse(node.value)
                if function in units and name.endswith(f".{function}"):
                    units[name] = replace(units.pop(function), name=name)
        return tuple(units.values())


@contextlib.contextmanager
def apply(changes: tuple[Change, ...]) -> Iterator[None]:
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


def number_of(node: ast.expr) -> float | None:
    """The value of a number literal, with its sign; None for another expression."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        operand = number_of(node.operand)
        return None if operand is None else -operand
    value = node.value if isinstance(node, ast.Constant) else None
    return value if type(value) in (int, float) else None  # type: ignore[return-value]


def expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


class _Putter(ast.NodeTransformer):
    def __init__(self, replacement: ast.expr):
        self.inner = replacement

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.inner if node.id == "E" else node


def substitute(node: ast.expr, text: str) -> ast.expr:
    """The expression of a text, with a node in the place of each name E."""
    wrapped: ast.expr = _Putter(node).visit(expression(text))
    return wrapped


def called_name(node: ast.Call) -> str:
    """The name of the function or method that is called."""
    return getattr(node.func, "attr", getattr(node.func, "id", "a call"))


def part_in_words(parent: ast.AST) -> str:
    """The part of the code that an edit of a number or a flag changes, in words. parent: the node around it."""
    if isinstance(parent, ast.Call):
        return f"an argument of {called_name(parent)}"
    if isinstance(parent, ast.keyword):
        return f"the argument {parent.arg}" if parent.arg else "an argument"
    if isinstance(parent, (ast.Subscript, ast.Slice)):
        return "an index"
    if isinstance(parent, ast.arguments):
        return "a default value"
    return "a constant"


def parameter_names(function: Function) -> list[str]:
    arguments = function.args
    return [one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]


def head_of(node: ast.stmt) -> tuple[int, int]:
    """The first line of a statement and the line after its last; of a statement with a body, those of its head."""
    body = getattr(node, "body", None)
    last_line = body[0].lineno - 1 if body else node.end_lineno or node.lineno
    return node.lineno, max(last_line, node.lineno) + 1


def stored_names(node: ast.AST) -> Iterator[ast.Name]:
    """Every place where a name is assigned to."""
    return (child for child in ast.walk(node) if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store))


def names_read(node: ast.AST) -> set[str]:
    """The names that a piece of code reads."""
    return {child.id for child in ast.walk(node) if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Load)}


def is_own_attribute(node: ast.AST) -> TypeGuard[ast.Attribute]:
    """Whether a node is an attribute of `self`."""
    return _is_attribute_of(node, "self")


def dump(part: object) -> str:
    """A part of a tree as text, which equal parts have in common."""
    return ast.dump(part) if isinstance(part, ast.AST) else repr(part)


@dataclass
class Scope:
    """The names that an edit in a function may use.

    values: parameters and local variables; attributes: those of `self`; layers: attributes that are called; unused:
    values that are computed and read nowhere; unread: parameters that are read nowhere.
    """

    values: list[str] = field(default_factory=list)
    parameters: list[str] = field(default_factory=list)
    attributes: list[str] = field(default_factory=list)
    layers: list[str] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)

    @property
    def dims(self) -> list[str]:
        """The names that may stand for a dimension."""
        return [name for name in self.values if name in ("dim", "axis", "d")]

    @classmethod
    def of(cls, unit: Unit) -> "Scope":
        """The scope of a definition."""
        parameters = parameter_names(unit.node)
        self_name = parameters.pop(0) if unit.owner is not None and parameters else "self"
        nodes = list(ast.walk(unit.owner)) if unit.owner is not None else []
        stored = [node.id for node in stored_names(unit.node)]
        read = names_read(unit.node)
        lists = (
            [*parameters, *stored],
            parameters,
            [node.attr for node in nodes if _is_attribute_of(node, self_name)],
            [node.func.attr for node in nodes if isinstance(node, ast.Call) and _is_attribute_of(node.func, self_name)],
            [name for name in stored if name not in read and name != "_"],
            [name for name in parameters if name not in read],
        )
        return cls(*(list(dict.fromkeys(names)) for names in lists))


def _is_attribute_of(node: ast.AST, name: str) -> TypeGuard[ast.Attribute]:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == name
