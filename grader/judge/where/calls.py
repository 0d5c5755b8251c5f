"""Edits of a call: its arguments, their order, the function itself, and the call left out."""

import ast
from collections.abc import Iterator
from functools import partial

from grader.judge.where.edits import Replacement
from grader.judge.where.nodes import around_of, called, constant, expression, is_library, turned
from grader.judge.where.scope import Scope
from grader.judge.where.vocabulary import ALONG, FACTORIES, REDUCING, SIBLINGS, TURNS


def other_calls(node: ast.Call, scope: Scope) -> Iterator[Replacement]:
    name = called(node)
    argument = f"an argument of {name}"
    for index, keyword in enumerate(node.keywords):
        rest = [*node.keywords[:index], *node.keywords[index + 1 :]]
        yield ast.Call(node.func, node.args, rest), argument, 0, ("drop", name, keyword.arg)
    for keyword_text in _missing_keywords(node, name, scope):
        extra = expression(f"f({keyword_text})").keywords  # type: ignore[attr-defined]
        kept = [one for one in node.keywords if one.arg not in {new.arg for new in extra}]
        tier = 0 if len(extra) == 1 else 1
        yield ast.Call(node.func, node.args, [*kept, *extra]), argument, tier, ("add", name, keyword_text)
    if name in ALONG and not any(one.arg in ("dim", "axis") for one in node.keywords):
        first = 0 if isinstance(node.func, ast.Attribute) and not is_library(node.func.value) else 1
        if len(node.args) <= first:
            dims = [*map(constant, (-1, -2, 0, 1)), *(expression(name) for name in scope.dims)]
            for new in dims:
                yield ast.Call(node.func, [*node.args, new], node.keywords), argument, 0, ("dim", name, ast.dump(new))
                if name in REDUCING:
                    yield from _reduced(node, new, first)
    for index in range(len(node.args) - 1):
        swapped = [*node.args]
        swapped[index], swapped[index + 1] = swapped[index + 1], swapped[index]
        order = f"the order of the arguments of {name}"
        yield ast.Call(node.func, swapped, node.keywords), order, 0, ("swap", name, index)
    for index in range(len(node.args)) if len(node.args) > 1 else ():
        rest_args = [*node.args[:index], *node.args[index + 1 :]]
        yield ast.Call(node.func, rest_args, node.keywords), argument, 1, ("less", name, index)
    yield from _other_functions(node, name)
    inner = node.func.value if isinstance(node.func, ast.Attribute) and not is_library(node.func.value) else None
    for part in [inner] if inner is not None else node.args[:1]:
        if not isinstance(part, ast.Starred):
            yield part, f"the call of {name}", 0, ("without", name)
            for other in scope.unused[:3]:
                for operator in "-/*+":
                    yield partial(around_of, part, f"(E) {operator} {other}"), f"the call of {name}", 0, None
    for many in node.args[:1]:
        if isinstance(many, ast.List):
            yield ast.Tuple(many.elts, ast.Load()), f"the call of {name}", 0, None
    if name in ("get", "setdefault", "pop") and inner is not None and node.args:
        yield ast.Subscript(inner, node.args[0], ast.Load()), f"the call of {name}", 0, None
    if inner is not None and node.args and isinstance(inner, ast.Name) and inner.id == "self":
        yield node.args[0], f"the call of {name}", 0, ("without", name)
    if name in ("transpose", "swapaxes", "permute") and inner is not None:
        for turn in TURNS:
            yield turned(inner, turn), "a transpose", 0, ("turn", turn)


def _reduced(node: ast.Call, dim: ast.expr, first: int) -> Iterator[Replacement]:
    """A maximum, sum or mean of everything turned into one along a dimension that is kept."""
    inner = node.args[0] if first and node.args else getattr(node.func, "value", None)
    if inner is None:
        return
    name = called(node)
    for other in ("amax", "sum") if name in ("max", "amax", "sum") else (name,):
        kept = [dim], [ast.keyword("keepdim", ast.Constant(True))]
        yield ast.Call(ast.Attribute(inner, other, ast.Load()), *kept), f"an argument of {name}", 1, None


def _missing_keywords(node: ast.Call, name: str, scope: Scope) -> Iterator[str]:
    given = {keyword.arg for keyword in node.keywords}
    if name in REDUCING and "keepdim" not in given:
        yield "keepdim=True"
    if name == "Linear" and "bias" not in given:
        yield "bias=False"
        yield from (f"bias={one}" for one in scope.values if "bias" in one)
    if name == "einsum":
        return
    if name in FACTORIES:
        for one in scope.parameters:
            yield f"dtype={one}.dtype, device={one}.device"
            yield f"device={one}.device"
            yield f"dtype={one}.dtype"
    if name in ("tril", "triu") and "diagonal" not in given and len(node.args) < 2:
        yield "diagonal=1"
        yield "diagonal=-1"
    if name == "dropout" and "training" not in given:
        yield "training=self.training"


def _other_functions(node: ast.Call, name: str) -> Iterator[Replacement]:
    others = {other for row in SIBLINGS if name in row for other in row} - {name}
    others |= (
        {name[:-1]}
        if name.endswith("_") and not name.endswith("__")
        else {f"{name}_"}
        if name == "masked_fill"
        else set()
    )
    for other in sorted(others):
        sign = ("sibling", name, other)
        if isinstance(node.func, ast.Attribute):
            function: ast.expr = ast.Attribute(node.func.value, other, ast.Load())
        else:
            function = ast.Name(other, ast.Load())
        yield ast.Call(function, node.args, node.keywords), f"the call of {name}", 0, sign
