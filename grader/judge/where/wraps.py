"""Edits that wrap an expression in something that may be missing: a transpose, a scale, a mask, a layer."""

import ast
from collections.abc import Iterator
from functools import partial

from grader.judge.where.edits import Change, Replacement
from grader.judge.where.nodes import called_name, expression, square_root, substituted, transposed
from grader.judge.where.scope import Scope
from grader.judge.where.vocabulary import LOOPS, MISSING, TURNS, WRAPS

SCALED = "scaled"  # begins the sign of an edit that puts in a scale
PRODUCTS = ("matmul", "bmm", "einsum", "baddbmm")


def takes_a_scale(change: Change) -> bool:
    """Whether a change stands where the scale of attention usually does: at a product, or within softmax."""
    node = change.old()
    product = isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult)
    product = product or (isinstance(node, ast.Call) and called_name(node) in PRODUCTS)
    return product or (isinstance(change.parent, ast.Call) and called_name(change.parent) == "softmax")


def may_be_wrapped(node: ast.expr, parent: ast.AST) -> bool:
    """Whether an expression is a value that is computed with, so that something may be missing around it."""
    if isinstance(node, (ast.Constant, ast.Tuple, ast.List, ast.Slice, ast.Starred, ast.Dict, ast.Lambda)):
        return False
    if isinstance(parent, (ast.Attribute, ast.keyword, ast.Subscript)) and not isinstance(parent, ast.Subscript):
        return isinstance(parent, ast.keyword)
    return not (isinstance(node, ast.Name) and node.id in ("self", "super", "torch", "math", "nn", "F"))


def wrapped(node: ast.expr, parent: ast.AST, scope: Scope) -> Iterator[Replacement]:
    """The value transposed, scaled, masked, put through a layer or function, or combined with another value."""
    operand = isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.MatMult)
    operand = operand or (isinstance(parent, ast.Call) and called_name(parent) in ("matmul", "bmm", "mm", "dot"))
    for dim_pair in TURNS if operand else TURNS[:2]:
        yield partial(transposed, node, dim_pair), "a transpose", 0 if operand else 1, ("turned", dim_pair)
    if isinstance(parent, ast.BinOp) and isinstance(parent.op, (ast.Div, ast.Mult)) and parent.right is node:
        yield square_root(node), "the scale", 0, ("root of",)
    if (isinstance(node, ast.BinOp) and isinstance(node.op, (ast.MatMult, ast.Mult))) or isinstance(
        node, (ast.Call, ast.Name)
    ):
        sizes = [f"{name}.shape[-1]" for name in scope.values[:8]] + [f"self.{name}" for name in scope.attributes[:8]]
        for size in (*sizes, *scope.values[:8]):
            yield partial(substituted, node, f"(E) / ({size}) ** 0.5"), "the scale", 1, (SCALED, size)
    if isinstance(parent, ast.Assign) and isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
        yield partial(substituted, node, "(E).clone()"), MISSING, 0, None  # another name of a tensor, or a view of it
    for tier, texts in enumerate(WRAPS, 1):
        for text in texts:
            yield partial(substituted, node, text), MISSING, tier, ("wrapped", text)
    for mask in ("float('-inf')", "0.0"):
        text = f"(E).masked_fill((E).new_ones((E).shape[-2:]).triu(1).bool(), {mask})"
        yield partial(substituted, node, text), MISSING, 1, ("masked", mask)
    if isinstance(node, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)):
        for function in scope.functions[:6]:
            yield partial(substituted, node, f"{function}(E)"), MISSING, 0, None
    for name in scope.unused[:3]:
        yield from ((partial(substituted, node, f"(E) {operator} {name}"), MISSING, 0, None) for operator in "-/*+@")
    for layer in scope.layers[:6]:
        yield partial(substituted, node, f"self.{layer}(E)"), MISSING, 1, None
    for name in scope.values[:6]:
        for operator in ("@", "+", "*"):
            yield partial(substituted, node, f"(E) {operator} {name}"), MISSING, 2, None
        yield partial(substituted, node, f"(E).to({name}.dtype)"), MISSING, 2, None


def iterated(node: ast.expr, parent: ast.AST) -> Iterator[Replacement]:
    """Other values for a loop to run over."""
    if isinstance(parent, (ast.For, ast.comprehension)) and parent.iter is node:
        for text in LOOPS:
            yield partial(substituted, node, text), "what the loop runs over", 1, None


def sizes(node: ast.expr, parent: ast.AST, scope: Scope) -> Iterator[Replacement]:
    """Other sizes, where a value is divided by a size or the root of one is taken."""
    is_divisor = (
        isinstance(parent, ast.BinOp) and isinstance(parent.op, (ast.Div, ast.FloorDiv)) and parent.right is node
    )
    is_power = isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Pow) and parent.left is node
    is_root = isinstance(parent, ast.Call) and called_name(parent) == "sqrt"
    if (is_divisor or is_power or is_root) and not isinstance(node, (ast.BinOp, ast.Constant)):
        for name in scope.values[:8]:
            for dim in (-1, -2):
                yield expression(f"{name}.shape[{dim}]"), "a size", 1, None
        for name in scope.attributes[:8]:
            yield expression(f"self.{name}"), "a size", 1, None
        if not isinstance(node, ast.Name):
            yield from ((ast.Name(name, ast.Load()), "a size", 1, None) for name in scope.values[:8])


def registered(node: ast.expr) -> Iterator[Replacement]:
    """The value registered as a part of its module, or with another dtype, shape or scale."""
    for text in ("nn.Parameter(E)", "torch.nn.Parameter(E)", "nn.ModuleList(E)", "torch.nn.ModuleList(E)"):
        yield partial(substituted, node, text), MISSING, 1, ("kept", text)
    for text in ("(E).bool()", "(E).T", "(E) + 1", "(E) - 1", "(E) // 2", "(E) * 2", "(E) ** 0.5", "1 - (E)"):
        yield partial(substituted, node, text), MISSING, 2, ("wrapped", text)
