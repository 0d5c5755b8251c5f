"""Makes and reads small pieces of syntax trees."""

import ast
import itertools
from collections.abc import Iterator, Sequence
from typing import TypeVar

MAKING = ("register_buffer", "register_parameter", "register_module", "add_module", "setattr")
LIBRARIES = ("torch", "F", "nn", "math", "functional", "np", "itertools", "T", "init")
Item = TypeVar("Item")


def number_of(node: ast.expr) -> float | None:
    """The value of a number literal, with its sign; None for another expression."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        operand = number_of(node.operand)
        return None if operand is None else -operand
    value = node.value if isinstance(node, ast.Constant) else None
    return value if type(value) in (int, float) else None  # type: ignore[return-value]


def constant(value: float) -> ast.expr:
    return ast.Constant(value) if value >= 0 else ast.UnaryOp(ast.USub(), ast.Constant(-value))


def expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


class _Putter(ast.NodeTransformer):
    def __init__(self, replacement: ast.expr):
        self.inner = replacement

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.inner if node.id == "E" else node


def substituted(node: ast.expr, text: str) -> ast.expr:
    """The expression of a text, with a node in the place of each name E."""
    wrapped: ast.expr = _Putter(node).visit(expression(text))
    return wrapped


def transposed(node: ast.expr, dims: tuple[int, int]) -> ast.expr:
    return ast.Call(ast.Attribute(node, "transpose", ast.Load()), [constant(dims[0]), constant(dims[1])], [])


def square_root(node: ast.expr) -> ast.expr:
    return ast.BinOp(node, ast.Pow(), ast.Constant(0.5))


def called_name(node: ast.Call) -> str:
    function = node.func
    return (
        function.attr
        if isinstance(function, ast.Attribute)
        else function.id
        if isinstance(function, ast.Name)
        else "a call"
    )


def is_library(node: ast.expr) -> bool:
    """Whether `node.name(…)` calls a library's function: torch.exp, F.softmax, torch.nn.functional.relu."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id in LIBRARIES


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


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.arg]:
    arguments = function.args
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]


def parameter_names(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    return [parameter.arg for parameter in parameters(function)]


def attributes_of(node: ast.AST) -> set[str]:
    """The names of the attributes of `self` in a piece of code."""
    attributes = (
        attribute
        for attribute in ast.walk(node)
        if isinstance(attribute, ast.Attribute) and isinstance(attribute.value, ast.Name)
    )
    return {
        attribute.attr
        for attribute in attributes
        if isinstance(attribute.value, ast.Name) and attribute.value.id == "self"
    }


def attributes_assigned_in(node: ast.AST) -> set[str]:
    """The names of the attributes that a method gives `self`, by an assignment or by a call with the name."""
    stored = {
        child.attr for child in ast.walk(node) if isinstance(child, ast.Attribute) and isinstance(child.ctx, ast.Store)
    }
    calls = (child for child in ast.walk(node) if isinstance(child, ast.Call) and called_name(child) in MAKING)
    constants = (child.value for call in calls for child in ast.walk(call) if isinstance(child, ast.Constant))
    return stored | {value for value in constants if isinstance(value, str)}


def exchanged(items: Sequence[Item]) -> Iterator[list[Item]]:
    """The items with two of them exchanged, for each two."""
    for first, second in itertools.combinations(range(len(items)), 2):
        others = [*items]
        others[first], others[second] = others[second], others[first]
        yield others


def is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def is_aside(node: ast.AST) -> bool:
    """Whether a statement can hardly be the mistake: it prints, asserts, or is only a text."""
    if isinstance(node, ast.Expr):
        value = node.value
        return isinstance(value, ast.Constant) or (isinstance(value, ast.Call) and ast.unparse(value.func) == "print")
    return isinstance(node, (ast.Assert, ast.Pass))


def head_of(node: ast.stmt) -> tuple[int, int]:
    """The first line of a statement and the line after its last; of a statement with a body, those of its head."""
    body = getattr(node, "body", None)
    last_line = body[0].lineno - 1 if body else node.end_lineno or node.lineno
    return node.lineno, max(last_line, node.lineno) + 1
