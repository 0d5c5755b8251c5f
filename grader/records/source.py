"""Reads what a source contains, under limits: its words, classes and functions, and the lines that run."""

import ast
import functools
import re
from types import ModuleType
from typing import Any

from grader.records.limited import limited
from grader.records.syntax import FUNCTIONS, imported, is_text, parsed, walked

# The nodes that can run an operation of torch. A for loop over a tensor runs one, too.
STEPS = (
    ast.Call, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript, ast.Attribute, ast.AugAssign, ast.Assign, ast.For,
    ast.Return,
)  # fmt: skip


class SourceWords:
    """The words, classes, functions and lines of a source. A worker's reply is repeated only as far as they confirm it.

    Otherwise a compromised worker could disclose a hidden input as the name of a class or function, or as a line.
    """

    def __init__(self, source: str) -> None:
        self.source = source

    def confirmed(self, name: str) -> str:
        """The dotted name, where each of its parts is a word of the source; otherwise ""."""
        return name if set(name.split(".")) <= self._words else ""

    def parameter_part(self, name: str) -> str:
        """A part of a parameter's name, where it is a word of the source, a number or torch's own; otherwise "…"."""
        return name if name in ("weight", "bias") or name.isdecimal() or self.confirmed(name) else "…"

    def class_of(self, name: str, *libraries: ModuleType) -> str:
        """The name, where the source or one of the libraries defines a class of this name; otherwise ""."""
        in_library = any(isinstance(vars(library).get(name), type) for library in libraries)
        return name if in_library or name in self._classes else ""

    def function_at(self, line: int) -> str:
        """The name of the innermost function around a line; "" where there is none."""
        around = [span for span in self._functions if span[0] <= line <= span[1]]
        name: str = max(around)[2] if around else ""
        return name

    def uses(self, name: str, backward: bool = True) -> frozenset[str]:
        """The names that a top-level function or class uses, also by way of other ones. Its own is one of them.

        backward: with those that only methods called `backward` use, which run where gradients are asked for.
        """
        uses = self._uses["backward" if backward else "forward"]
        used_names: set[str] = set()
        newly_found = {name}
        while newly_found:
            used_names |= newly_found
            newly_found = {used for name_found in newly_found for used in uses.get(name_found, ())} - used_names
        return frozenset(used_names)

    def unread(self, name: str) -> list[str]:
        """The parameters that a top-level function never reads, without those whose names begin with an underscore."""
        return list(self._outline["unread"].get(name, ())) if self._outline else []

    def runs(self, line: int) -> bool:
        """Whether code that could raise begins on this line. In a source that does not parse, every line counts."""
        return line in self._code or (self._outline is None and 0 < line <= len(self.source.splitlines()))

    def computes(self, line: int) -> bool:
        """Whether a step of a computation, which could be a forbidden one, begins or ends on this line."""
        return line in self._steps

    @functools.cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(re.findall(r"\w+", self.source))

    @functools.cached_property
    def _outline(self) -> dict[str, Any] | None:
        return _outline(self.source)

    @functools.cached_property
    def _classes(self) -> frozenset[str]:
        return frozenset(self._outline["classes"] if self._outline else ())

    @functools.cached_property
    def _uses(self) -> dict[str, dict[str, list[str]]]:
        return self._outline["uses"] if self._outline else {"forward": {}, "backward": {}}

    @functools.cached_property
    def _functions(self) -> list[list[Any]]:
        return self._outline["functions"] if self._outline else []

    @functools.cached_property
    def _code(self) -> frozenset[int]:
        return frozenset(self._outline["code"] if self._outline else ())

    @functools.cached_property
    def _steps(self) -> frozenset[int]:
        return frozenset(self._outline["steps"] if self._outline else ())


@limited
def nesting(source: str) -> int:
    """The depth of the syntax tree of a source; 0 for a source that is not Python. Raises BadSubmission as `parses`."""
    tree, depth = parsed(source), 0
    level: list[ast.AST] = [tree] if tree is not None else []
    while level:
        depth, level = depth + 1, [child for node in level for child in ast.iter_child_nodes(node)]
    return depth


@limited
def parses(source: str) -> bool:
    """Whether a stranger's source is Python. Raises BadSubmission where parsing exceeds a limit."""
    return parsed(source) is not None


@limited
def line_of(source: str, name: str) -> int | None:
    """The line on which a stranger's source defines a function or class; None where it does not.

    Raises BadSubmission where parsing exceeds a limit.
    """
    tree = parsed(source)
    nodes = walked(tree) if tree else []
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return next((node.lineno for node in nodes if isinstance(node, kinds) and node.name == name), None)


@limited
def statements(source: str) -> list[list[int]]:
    """The top-level statements of a stranger's source: [first line, last line], decorators included.

    Raises BadSubmission where parsing exceeds a limit.
    """
    tree = parsed(source)
    return [_span(statement) for statement in tree.body] if tree else []


@limited
def runs_only(source: str) -> list[int]:
    """The numbers of the top-level loops, calls and with-blocks that define no function and no class."""
    tree = parsed(source)
    kinds, definitions = (ast.Expr, ast.For, ast.While, ast.With), (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return [
        number
        for number, statement in enumerate(tree.body if tree else ())
        if isinstance(statement, kinds) and not any(isinstance(node, definitions) for node in walked(statement))
    ]


@limited
def defining(source: str, name: str) -> list[list[int]]:
    """The top-level statements that define a function or class of this name, at any depth, or import or assign it.

    Each as [first line, last line]. Raises BadSubmission where parsing exceeds a limit.
    """
    tree = parsed(source)
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    around = [
        statement
        for statement in (tree.body if tree else ())
        if any(isinstance(node, kinds) and node.name == name for node in walked(statement))
        or name in imported([statement])
        or (isinstance(statement, ast.Assign) and name in _stored(statement))
    ]
    return [_span(statement) for statement in around]


def _stored(statement: ast.Assign) -> set[str]:
    """The names that an assignment binds."""
    return {node.id for node in walked(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


@limited
def _outline(source: str) -> dict[str, Any] | None:
    """Classes, functions as [first line, last line, name], what each definition uses, lines of code and of steps.

    None for what is not Python.
    """
    tree = parsed(source)
    if tree is None:
        return None
    nodes = walked(tree)
    texts = {node for node in nodes if is_text(node) or isinstance(node, (ast.Constant, ast.arg))}
    steps = [node for node in nodes if isinstance(node, STEPS)]
    definitions = [node for node in tree.body if isinstance(node, (*FUNCTIONS, ast.ClassDef))]
    return {
        "classes": sorted({node.name for node in nodes if isinstance(node, ast.ClassDef)}),
        "functions": [[node.lineno, node.end_lineno, node.name] for node in nodes if isinstance(node, FUNCTIONS)],
        "uses": {
            "forward": {node.name: _names(node, without="backward") for node in definitions},
            "backward": {node.name: _names(node) for node in definitions},
        },
        "unread": {node.name: _unread(node) for node in tree.body if isinstance(node, FUNCTIONS)},
        "code": sorted({node.lineno for node in nodes if hasattr(node, "lineno") and node not in texts}),
        "steps": sorted({line for node in steps for line in (node.lineno, node.end_lineno)}),
    }


def _names(definition: ast.AST, without: str = "") -> list[str]:
    """The names in a definition, without those in annotations and in methods called `without`."""
    left_out = [node for node in getattr(definition, "body", ()) if getattr(node, "name", None) == without]
    inside = {node for method in left_out for node in walked(method)}
    nodes = [node for node in walked(definition) if node not in inside]
    hints = [getattr(node, field, None) for node in nodes for field in ("annotation", "returns")]
    hint_nodes = {node for hint in hints if isinstance(hint, ast.AST) for node in walked(hint)}
    return sorted({node.id for node in nodes if isinstance(node, ast.Name) and node not in hint_nodes})


def _unread(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    """The parameters that the body of a function never reads."""
    nodes = [node for statement in function.body for node in walked(statement)]
    read = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    given = [one.arg for one in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]
    return [name for name in given if name not in read and not name.startswith("_")]


def _span(statement: ast.stmt) -> list[int]:
    """The first line of a statement, with its decorators, and the last one."""
    first_line = min([statement.lineno, *(decorator.lineno for decorator in getattr(statement, "decorator_list", ()))])
    return [first_line, statement.end_lineno or statement.lineno]
