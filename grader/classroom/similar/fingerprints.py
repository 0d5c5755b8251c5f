"""What is left of a source when names, formatting, comments, docstrings and annotations do not count.

Winnowing (Schleimer, Wilkerson, Aiken: "Winnowing: local algorithms for document fingerprinting", SIGMOD 2003) over
the syntax tree: the tree's tokens of each function, grams of GRAM tokens, and of each WINDOW grams the smallest hash.
Two sources that share GRAM + WINDOW - 1 tokens in a row share a fingerprint. A gram never spans two functions,
so their order does not count either.

Written by hand: MOSS sends hand-ins to a server, JPlag needs Java, and Python's libraries compare texts, not trees.
"""

import ast
import builtins
import hashlib
import heapq
from dataclasses import dataclass

from grader.catalog.errors import BadSubmission
from grader.records.limited import limited
from grader.records.syntax import imported, parsed, statements

GRAM, WINDOW = 10, 3
MOST = 5_000  # fingerprints of one source; an honest one has some hundred


@dataclass(frozen=True, order=True, slots=True)
class Lines:
    """Where a fingerprint stands: the first and last line."""

    first: int
    last: int

    def joined(self, other: "Lines") -> "Lines":
        return Lines(min(self.first, other.first), max(self.last, other.last))

    def __str__(self) -> str:
        return f"line {self.first}" if self.first == self.last else f"lines {self.first} to {self.last}"


def fingerprints(source: str) -> dict[int, Lines]:
    """The fingerprints of a source and where each stands first; {} where it is not Python, or takes too much to read.

    Of a source that has more than MOST, the smallest: two sources that hold the same keep the same.
    """
    try:
        return {print_: Lines(first, last) for print_, first, last in _fingerprints(source)}
    except BadSubmission:
        return {}


@limited
def _fingerprints(source: str) -> list[tuple[int, int, int]]:
    tree = parsed(source)
    if tree is None:
        return []
    own = imported(statements(tree))  # so that `F.softmax` is what it is everywhere
    found: dict[int, Lines] = {}
    for body in _units(tree):
        for print_, lines in _winnowed(_tokens(body, own)):
            found.setdefault(print_, lines)
    return [(print_, found[print_].first, found[print_].last) for print_ in heapq.nsmallest(MOST, found)]


def _winnowed(tokens: list[tuple[str, int]]):
    """The grams that winnowing keeps, as (hash, lines)."""
    words = [token.encode("utf-8", "replace") for token, _ in tokens]
    grams = []
    for start in range(len(words) - GRAM + 1):
        text = b" ".join(words[start : start + GRAM])
        grams.append((hashlib.blake2b(text, digest_size=8).digest(), -start))
    for start in range(max(len(grams) - WINDOW + 1, min(len(grams), 1))):
        smallest, place = min(grams[start : start + WINDOW])  # of equals the last
        hashed, place = int.from_bytes(smallest, "big"), -place
        lines = [line for _, line in tokens[place : place + GRAM] if line]
        yield hashed, Lines(min(lines), max(lines))


def _units(tree: ast.Module) -> list[list[ast.stmt]]:
    """The bodies that are compared each for itself: every function, and what is left of classes and the module."""
    units, bodies = [], [tree.body]
    while bodies:
        rest: list[ast.stmt] = []
        for statement in bodies.pop():
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                units.append([statement])
            elif isinstance(statement, ast.ClassDef):
                bodies.append(statement.body)
            elif not isinstance(statement, (ast.Import, ast.ImportFrom)):
                rest.append(statement)
        units.append(rest)
    return units


class _Tokens(ast.NodeVisitor):
    """The tree in preorder, each node one token and its line, in one spelling where Python and torch have several:
    `torch.softmax(x, -1)`, `F.softmax(x, dim=1)` and `x.softmax(0)` are the same."""

    def __init__(self, names: dict[str, str]):
        self.names, self.tokens, self.line = names, [], 0

    def put(self, token: str) -> None:
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

    def visit_FunctionDef(self, node) -> None:
        self.put("def")
        for part in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, *node.body):
            self.visit(part)

    visit_AsyncFunctionDef = visit_FunctionDef

    def is_module(self, node: ast.expr) -> bool:
        while isinstance(node, ast.Attribute):
            node = node.value
        return isinstance(node, ast.Name) and node.id in self.names


BUILTINS = frozenset(dir(builtins))
SPELLINGS = dict.fromkeys(("T", "mT", "t", "transpose", "swapaxes", "swapdims"), "transposed")
SPELLINGS |= dict.fromkeys(("matmul", "mm", "bmm", "mv", "dot", "inner"), "MatMult")
SPELLINGS |= {"reshape": "view", "movedim": "permute"}


def _tokens(body: list[ast.stmt], names: dict[str, str]) -> list[tuple[str, int]]:
    visitor = _Tokens(names)
    for statement in body:
        visitor.visit(statement)
    return visitor.tokens
