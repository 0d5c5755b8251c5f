"""Small pieces of syntax trees, made and looked at."""

import ast

MAKING = ("register_buffer", "register_parameter", "register_module", "add_module", "setattr")
LIBRARIES = ("torch", "F", "nn", "math", "functional", "np", "itertools", "T", "init")


def number_of(node: ast.expr) -> float | None:
    """A number that is written out, with its sign."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = number_of(node.operand)
        return None if inner is None else -inner
    value = node.value if isinstance(node, ast.Constant) else None
    return value if type(value) in (int, float) else None  # type: ignore[return-value]


def constant(value: float) -> ast.expr:
    return ast.Constant(value) if value >= 0 else ast.UnaryOp(ast.USub(), ast.Constant(-value))


def expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


class _Putter(ast.NodeTransformer):
    def __init__(self, inner: ast.expr):
        self.inner = inner

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.inner if node.id == "E" else node


def around_of(inner: ast.expr, text: str) -> ast.expr:
    """An expression with another one in the place of its name E."""
    found: ast.expr = _Putter(inner).visit(expression(text))
    return found


def turned(inner: ast.expr, turn: tuple[int, int]) -> ast.expr:
    return ast.Call(ast.Attribute(inner, "transpose", ast.Load()), [constant(turn[0]), constant(turn[1])], [])


def root(inner: ast.expr) -> ast.expr:
    return ast.BinOp(inner, ast.Pow(), ast.Constant(0.5))


def called(node: ast.Call) -> str:
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


def where_of(around: ast.AST) -> str:
    """What an edit of a number or a flag changes, in words."""
    if isinstance(around, ast.Call):
        return f"an argument of {called(around)}"
    if isinstance(around, ast.keyword):
        return f"the argument {around.arg}" if around.arg else "an argument"
    if isinstance(around, (ast.Subscript, ast.Slice)):
        return "an index"
    if isinstance(around, ast.arguments):
        return "a default value"
    return "a number"


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.arg]:
    arguments = function.args
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]


def attributes_of(node: ast.AST) -> set[str]:
    """The names of the parts of `self` in a piece of code."""
    parts = (part for part in ast.walk(node) if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name))
    return {part.attr for part in parts if isinstance(part.value, ast.Name) and part.value.id == "self"}


def made_in(node: ast.AST) -> set[str]:
    """The names of the parts that a method gives `self`: by an assignment, or by a call with the name."""
    stored = {
        part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store)
    }
    calls = (part for part in ast.walk(node) if isinstance(part, ast.Call) and called(part) in MAKING)
    constants = (part.value for call in calls for part in ast.walk(call) if isinstance(part, ast.Constant))
    return stored | {value for value in constants if isinstance(value, str)}


def is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
