"""Edits of a call: other arguments, another order of them, another function, and the call removed."""

import ast
from collections.abc import Iterator
from functools import partial

from grader.judge.where.edits import Replacement
from grader.judge.where.nodes import called_name, constant, expression, is_library, substituted, transposed
from grader.judge.where.scope import Scope
from grader.judge.where.vocabulary import ALONG, FACTORIES, REDUCING, SIBLINGS, TURNS


def other_calls(node: ast.Call, scope: Scope) -> Iterator[Replacement]:
    name = called_name(node)
    argument = f"an argument of {name}"
    for index, keyword in enumerate(node.keywords):
        remaining_keywords = [*node.keywords[:index], *node.keywords[index + 1 :]]
        yield ast.Call(node.func, node.args, remaining_keywords), argument, 0, ("drop", name, keyword.arg)
    for keyword_text in _missing_keywords(node, name, scope):
        extra = expression(f"f({keyword_text})").keywords  # type: ignore[attr-defined]
        kept_keywords = [given for given in node.keywords if given.arg not in {new.arg for new in extra}]
        tier = 0 if len(extra) == 1 else 1
        yield ast.Call(node.func, node.args, [*kept_keywords, *extra]), argument, tier, ("add", name, keyword_text)
    if name in ALONG and not any(given.arg in ("dim", "axis") for given in node.keywords):
        dim_position = 0 if isinstance(node.func, ast.Attribute) and not is_library(node.func.value) else 1
        if len(node.args) <= dim_position:
            dims = [*map(constant, (-1, -2, 0, 1)), *(expression(name) for name in scope.dims)]
            for new in dims:
                yield ast.Call(node.func, [*node.args, new], node.keywords), argument, 0, ("dim", name, ast.dump(new))
                if name in REDUCING:
                    yield from _reduced(node, new, dim_position)
    for index in range(len(node.args) - 1):
        swapped = [*node.args]
        swapped[index], swapped[index + 1] = swapped[index + 1], swapped[index]
        order = f"the order of the arguments of {name}"
        yield ast.Call(node.func, swapped, node.keywords), order, 0, ("swap", name, index)
    for index in range(len(node.args)) if len(node.args) > 1 else ():
        remaining_arguments = [*node.args[:index], *node.args[index + 1 :]]
        yield ast.Call(node.func, remaining_arguments, node.keywords), argument, 1, ("less", name, index)
    yield from _other_functions(node, name)
    receiver = node.func.value if isinstance(node.func, ast.Attribute) and not is_library(node.func.value) else None
    for operand in [receiver] if receiver is not None else node.args[:1]:
        if not isinstance(operand, ast.Starred):
            yield operand, f"the call of {name}", 0, ("without", name)
            for other in scope.unused[:3]:
                for operator in "-/*+":
                    yield partial(substituted, operand, f"(E) {operator} {other}"), f"the call of {name}", 0, None
    for sequence in node.args[:1]:
        if isinstance(sequence, ast.List):
            yield ast.Tuple(sequence.elts, ast.Load()), f"the call of {name}", 0, None
    if name in ("get", "setdefault", "pop") and receiver is not None and node.args:
        yield ast.Subscript(receiver, node.args[0], ast.Load()), f"the call of {name}", 0, None
    if receiver is not None and node.args and isinstance(receiver, ast.Name) and receiver.id == "self":
        yield node.args[0], f"the call of {name}", 0, ("without", name)
    if name in ("transpose", "swapaxes", "permute") and receiver is not None:
        for dim_pair in TURNS:
            yield transposed(receiver, dim_pair), "a transpose", 0, ("turn", dim_pair)


def _reduced(node: ast.Call, dim: ast.expr, dim_position: int) -> Iterator[Replacement]:
    """The same reduction (maximum, sum, mean) along one dimension, which is kept."""
    reduced_value = node.args[0] if dim_position and node.args else getattr(node.func, "value", None)
    if reduced_value is None:
        return
    name = called_name(node)
    for function in ("amax", "sum") if name in ("max", "amax", "sum") else (name,):
        reduction_arguments = [dim], [ast.keyword("keepdim", ast.Constant(True))]
        yield (
            ast.Call(ast.Attribute(reduced_value, function, ast.Load()), *reduction_arguments),
            f"an argument of {name}",
            1,
            None,
        )


def _missing_keywords(node: ast.Call, name: str, scope: Scope) -> Iterator[str]:
    given_keywords = {keyword.arg for keyword in node.keywords}
    if name in REDUCING and "keepdim" not in given_keywords:
        yield "keepdim=True"
    if name == "Linear" and "bias" not in given_keywords:
        yield "bias=False"
        yield from (f"bias={one}" for one in scope.values if "bias" in one)
    if name == "einsum":
        return
    if name in FACTORIES:
        for one in scope.parameters:
            yield f"dtype={one}.dtype, device={one}.device"
            yield f"device={one}.device"
            yield f"dtype={one}.dtype"
    if name in ("tril", "triu") and "diagonal" not in given_keywords and len(node.args) < 2:
        yield "diagonal=1"
        yield "diagonal=-1"
    if name == "dropout" and "training" not in given_keywords:
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
