"""Turns a syntax tree into tokens that do not depend on names, formatting, docstrings and annotations.

Where Python and torch have several spellings of one thing, all give the same tokens: `torch.softmax(x, -1)`,
`F.softmax(x, dim=1)` and `x.softmax(0)` are the same.
"""

import ast
import builtins

BUILTINS = frozenset(dir(builtins))
SPELLINGS = dict.fromkeys(("T", "mT", "t", "transpose", "swapaxes", "swapdims"), "transposed")
SPELLINGS |= dict.fromkeys(("matmul", "mm", "bmm", "mv", "dot", "inner"), "MatMult")
SPELLINGS |= {"reshape": "view", "movedim": "permute"}


def tokens(body: list[ast.stmt], names: dict[str, str]) -> list[tuple[str, int]]:
    """The tokens of some statements in preorder, each with its line (from 1 on; 0 where there is none).

    names: what the imported names of the source stand for.
    """
    visitor = _Tokens(names)
    for statement in body:
        visitor.visit(statement)
    return visitor.tokens


class _Tokens(ast.NodeVisitor):
    """Collects the tokens. The method visit_X puts those of a node of the class ast.X."""

    def __init__(self, names: dict[str, str]) -> None:
        self.names = names
        self.tokens: list[tuple[str, int]] = []
        self.line = 0

    def put(self, token: str) -> None:
        """Add a token of the current line."""
        self.tokens.append((token, self.line))

    def visit(self, node: ast.AST) -> None:
        self.line = getattr(node, "lineno", self.line)
        super().visit(node)

    def generic_visit(self, node: ast.AST) -> None:
        if not isinstance(node, ast.expr_context):
            self.put(type(node).__name__)
            super().generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        self.put(self.names.get(node.id) or (node.id if node.id in BUILTINS else "name"))

    def visit_arg(self, node: ast.arg) -> None:
        self.put("name")

    def visit_Constant(self, node: ast.Constant) -> None:
        self.put("number" if isinstance(node.value, (int, float)) else type(node.value).__name__)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.operand, ast.Constant):
            return self.visit(node.operand)
        self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if isinstance(node.value, ast.Name) and node.value.id == "self":
            return self.put("own")
        self.put(f".{SPELLINGS.get(node.attr, node.attr)}")
        if not self.is_module(node.value):
            self.visit(node.value)

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        spelled = SPELLINGS.get(name, name)
        if name and spelled == "transposed":
            self.put(".transposed")
            return self.visit(node.args[0] if self.is_module(node.func.value) and node.args else node.func.value)
        if spelled == "MatMult":
            self.put("BinOp")
        elif not name:
            self.put("Call")
        self.visit(node.func)
        for part in (*node.args, *node.keywords):
            self.visit(part)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        self.put("BinOp")
        self.put("." + type(node.op).__name__)
        self.visit(node.left)
        self.visit(node.right)

    def visit_keyword(self, node: ast.keyword) -> None:
        if node.arg not in ("dim", "axis"):
            self.put(f"{node.arg}=")
        self.visit(node.value)

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # a docstring
            self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.put("Assign")
            self.visit(node.target)
            self.visit(node.value)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.put("def")
        for part in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, *node.body):
            self.visit(part)

    visit_AsyncFunctionDef = visit_FunctionDef

    def is_module(self, node: ast.expr) -> bool:
        """Whether an expression is an imported name, or an attribute of one."""
        while isinstance(node, ast.Attribute):
            node = node.value
        return isinstance(node, ast.Name) and node.id in self.names
