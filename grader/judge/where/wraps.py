"""Edits that put something round an expression, which may be missing there: a transpose, a scale, a mask, a layer."""

import ast
from collections.abc import Iterator
from functools import partial

from grader.judge.where.edits import Replacement
from grader.judge.where.nodes import around_of, called, expression, root, turned
from grader.judge.where.scope import Scope
from grader.judge.where.vocabulary import LOOPS, MISSING, TURNS, WRAPS


def may_be_wrapped(node: ast.expr, around: ast.AST) -> bool:
    """Whether something of its own could stand around it: a value that is computed with."""
    if isinstance(node, (ast.Constant, ast.Tuple, ast.List, ast.Slice, ast.Starred, ast.Dict, ast.Lambda)):
        return False
    if isinstance(around, (ast.Attribute, ast.keyword, ast.Subscript)) and not isinstance(around, ast.Subscript):
        return isinstance(around, ast.keyword)
    return not (isinstance(node, ast.Name) and node.id in ("self", "super", "torch", "math", "nn", "F"))


def wrapped(node: ast.expr, around: ast.AST, scope: Scope) -> Iterator[Replacement]:
    """What may be missing around a value: turned, scaled, masked, sent through a layer, computed with another."""
    operand = isinstance(around, ast.BinOp) and isinstance(around.op, ast.MatMult)
    operand = operand or (isinstance(around, ast.Call) and called(around) in ("matmul", "bmm", "mm", "dot"))
    for turn in TURNS if operand else TURNS[:2]:
        yield partial(turned, node, turn), "a transpose", 0 if operand else 1, ("turned", turn)
    if isinstance(around, ast.BinOp) and isinstance(around.op, (ast.Div, ast.Mult)) and around.right is node:
        yield root(node), "the scale", 0, ("root of",)
    if (isinstance(node, ast.BinOp) and isinstance(node.op, (ast.MatMult, ast.Mult))) or isinstance(
        node, (ast.Call, ast.Name)
    ):
        sizes = [f"{name}.shape[-1]" for name in scope.values[:8]] + [f"self.{name}" for name in scope.attributes[:8]]
        for size in (*sizes, *scope.values[:8]):
            yield partial(around_of, node, f"(E) / ({size}) ** 0.5"), "the scale", 1, ("scaled", size)
    for tier, texts in enumerate(WRAPS, 1):
        for text in texts:
            yield partial(around_of, node, text), MISSING, tier, ("wrapped", text)
    for mask in ("float('-inf')", "0.0"):
        text = f"(E).masked_fill((E).new_ones((E).shape[-2:]).triu(1).bool(), {mask})"
        yield partial(around_of, node, text), MISSING, 1, ("masked", mask)
    if isinstance(node, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)):
        for function in scope.functions[:6]:
            yield partial(around_of, node, f"{function}(E)"), MISSING, 0, None
    for name in scope.unused[:3]:
        yield from ((partial(around_of, node, f"(E) {operator} {name}"), MISSING, 0, None) for operator in "-/*+@")
    for layer in scope.layers[:6]:
        yield partial(around_of, node, f"self.{layer}(E)"), MISSING, 1, None
    for name in scope.values[:6]:
        for operator in ("@", "+", "*"):
            yield partial(around_of, node, f"(E) {operator} {name}"), MISSING, 2, None
        yield partial(around_of, node, f"(E).to({name}.dtype)"), MISSING, 2, None


def iterated(node: ast.expr, around: ast.AST) -> Iterator[Replacement]:
    """What else a loop may run over."""
    if isinstance(around, (ast.For, ast.comprehension)) and around.iter is node:
        for text in LOOPS:
            yield partial(around_of, node, text), "what the loop runs over", 1, None


def sizes(node: ast.expr, around: ast.AST, scope: Scope) -> Iterator[Replacement]:
    """Another size, where something is divided by one or its root is taken."""
    is_divisor = (
        isinstance(around, ast.BinOp) and isinstance(around.op, (ast.Div, ast.FloorDiv)) and around.right is node
    )
    is_power = isinstance(around, ast.BinOp) and isinstance(around.op, ast.Pow) and around.left is node
    is_root = isinstance(around, ast.Call) and called(around) == "sqrt"
    if (is_divisor or is_power or is_root) and not isinstance(node, (ast.BinOp, ast.Constant)):
        for name in scope.values[:8]:
            for dim in (-1, -2):
                yield expression(f"{name}.shape[{dim}]"), "a size", 1, None
        for name in scope.attributes[:8]:
            yield expression(f"self.{name}"), "a size", 1, None
        if not isinstance(node, ast.Name):
            yield from ((ast.Name(name, ast.Load()), "a size", 1, None) for name in scope.values[:8])


def kept(node: ast.expr) -> Iterator[Replacement]:
    """What makes a value a part of its module, and what draws or shapes it otherwise."""
    for text in ("nn.Parameter(E)", "torch.nn.Parameter(E)", "nn.ModuleList(E)", "torch.nn.ModuleList(E)"):
        yield partial(around_of, node, text), MISSING, 1, ("kept", text)
    for text in ("(E).bool()", "(E).T", "(E) + 1", "(E) - 1", "(E) // 2", "(E) * 2", "(E) ** 0.5", "1 - (E)"):
        yield partial(around_of, node, text), MISSING, 2, ("wrapped", text)
