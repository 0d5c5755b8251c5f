"""Edits of expressions: operands, names, numbers, calls, indices, and what may be missing around them."""

import ast
from collections.abc import Iterator
from functools import partial
from typing import Any

from grader.judge.where.edits import (
    COMPUTED,
    MISSING,
    SLIP,
    Change,
    Edit,
    Function,
    Scope,
    called_name,
    expression,
    is_own_attribute,
    number_of,
    part_in_words,
    substitute,
)
from grader.records.syntax import is_text

Replacement = tuple[Any, str, int, tuple[Any, ...] | None]  # a new node, and the kind, tier and sign of its Edit
# Functions that are mistaken for each other: each is tried in the place of the others of its tuple.
SIBLINGS = [
    ("sum", "mean", "amax", "max", "prod"), ("max", "amax", "min", "argmax"), ("tril", "triu"), ("view", "reshape"),
    ("rand", "randn", "zeros", "ones", "empty"), ("ones_like", "zeros_like", "full_like", "rand_like"), ("ones", "eye"),
    ("softmax", "log_softmax", "sigmoid", "relu", "tanh"), ("argmax", "argmin"), ("cumsum", "cumprod", "sum"),
    ("repeat", "expand", "tile", "repeat_interleave"), ("cat", "stack", "hstack", "vstack", "concat"), ("norm", "sum"),
    ("log", "log2", "log1p"), ("exp", "exp2", "expm1", "sqrt", "square"), ("squeeze", "unsqueeze"), ("matmul", "mul"),
    ("dot", "outer", "cosine_similarity"), ("add", "sub", "mul", "div", "copy"), ("sin", "cos"), ("keys", "values"),
    ("arange", "linspace"), ("eval", "train"), ("Parameter", "Tensor"), ("Linear", "Embedding"), ("cummax", "cumsum"),
    ("floor", "round", "ceil"), ("gt", "ge", "lt", "le"), ("eq", "ne"), ("zip", "product"),
]  # fmt: skip
REDUCING = (
    "sum", "mean", "max", "min", "amax", "amin", "prod", "logsumexp", "norm", "std", "var", "argmax", "any", "all",
)  # fmt: skip
ALONG = (*REDUCING, "softmax", "log_softmax", "cumsum", "cat", "stack", "unsqueeze", "squeeze", "chunk", "split")
FACTORIES = (
    "zeros", "ones", "empty", "full", "tensor", "arange", "eye", "rand", "randn", "tril_indices", "triu_indices",
    "as_tensor",
)  # fmt: skip
LIBRARIES = ("torch", "F", "nn", "math", "functional", "np", "itertools", "T", "init")
TURNS = [(-2, -1), (1, 2), (0, 1), (2, 3), (-3, -2), (0, 2), (1, 3)]
SWAPPED = (ast.MatMult, ast.Sub, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)
OPERATORS: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Mult: (ast.Div, ast.MatMult, ast.Add, ast.Pow), ast.Div: (ast.Mult, ast.FloorDiv, ast.Sub),
    ast.Pow: (ast.Mult,), ast.Add: (ast.Sub, ast.Mult), ast.Sub: (ast.Add, ast.Div), ast.MatMult: (ast.Mult,),
    ast.FloorDiv: (ast.Div, ast.Mod, ast.Mult), ast.Mod: (ast.FloorDiv,), ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
}  # fmt: skip
COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt, ast.GtE), ast.LtE: (ast.Lt, ast.GtE, ast.Gt), ast.Gt: (ast.GtE, ast.Lt, ast.LtE),
    ast.GtE: (ast.Gt, ast.LtE, ast.Lt), ast.Eq: (ast.NotEq, ast.LtE, ast.GtE), ast.NotEq: (ast.Eq, ast.Gt),
    ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
}  # fmt: skip
SHIFTED = "(E) - (E).amax(-1, keepdim=True)"
# What may be missing around an expression E, the likelier first.
WRAPS = (
    (
        "(E).softmax(-1)", "(E) / (E).sum(-1, keepdim=True)", SHIFTED, "(E).exp()", "(E).sum(-1)", "(E).sum()",
        "(E) ** 0.5", "-(E)", "~(E)", "(E) + 1", "(E) - 1", "(E).unsqueeze(0)", "(E).unsqueeze(-1)", "(E)[0]",
        "(E).bool()", "sorted(set(E))", "sorted(E)", "(E).values",
    ),
    (
        "(E).softmax(0)", "(E) - (E).max()", "(E).sum(0)", "(E).mean(-1)", "(E).squeeze(0)", "(E).clone()",
        "(E).contiguous()", "(E).log()", "(E)[-1]", "1 / (E)", "1 - (E)", "(E) * 2", "(E) / 2", "set(E)", "list(E)",
        "int(E)", "tuple(E)", "next(E)", "len(E)", "(E).indices", "(E).T",
    ),
)  # fmt: skip
# Of what may be put around an expression, this is as often the way back from something that is too much there.
WAYS_BACK = frozenset(
    ("(E)[0]", "(E)[-1]", "(E).squeeze(0)", "(E).sum()", "(E) + 1", "(E) - 1", "(E) * 2", "(E) / 2", "(E) // 2",
    "1 / (E)", "-(E)", "~(E)", "(E) ** 0.5", "(E).log()", "(E).T", "int(E)", "len(E)", "next(E)", "list(E)")
)  # fmt: skip
THE_SCALE = "the scale"
PRODUCTS = ("matmul", "bmm", "einsum", "baddbmm")
FILLING = ("masked_fill", "masked_fill_", "where", "full", "full_like")
ORDER_OF_PARTS = "the order of the parts"
KEEPDIM = "keepdim=True"
SKIPPED = ("annotation", "returns", "decorator_list", "type_params")
Slot = tuple[ast.AST, str, int | None]


def other_subscripts(node: ast.Subscript) -> Iterator[Replacement]:
    """The indices and slices that may be meant instead of this one."""
    yield node.value, "an index", 1, ("whole",)
    if isinstance(node.slice, ast.Tuple) and len(node.slice.elts) == 2:
        first_index, second_index = node.slice.elts
        swapped = ast.Tuple([second_index, first_index], ast.Load())
        yield ast.Subscript(node.value, swapped, node.ctx), "the order of two indices", 0, None
    indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    for position, index in enumerate(indices):
        for new_index, kind in _other_indices(index):
            changed = [*indices[:position], new_index, *indices[position + 1 :]]
            new_slice = ast.Tuple(changed, ast.Load()) if isinstance(node.slice, ast.Tuple) else new_index
            yield ast.Subscript(node.value, new_slice, node.ctx), kind, 1, None


def may_be_wrapped(node: ast.expr, parent: ast.AST) -> bool:
    """Whether an expression is a value that is computed with, so that something may be missing around it."""
    if isinstance(node, (ast.Constant, ast.Tuple, ast.List, ast.Slice, ast.Starred, ast.Dict, ast.Lambda)):
        return False
    if isinstance(parent, ast.Attribute):
        return False
    return not (isinstance(node, ast.Name) and node.id in ("self", "super", "torch", "math", "nn", "F"))


def wrap(node: ast.expr, parent: ast.AST, scope: Scope) -> Iterator[Replacement]:
    """The value transposed, scaled, masked, put through a layer or function, or combined with another value."""
    operand = isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.MatMult)
    operand = operand or (isinstance(parent, ast.Call) and called_name(parent) in ("matmul", "bmm", "mm", "dot"))
    for dim_pair in TURNS if operand else TURNS[:2]:
        yield partial(transposed, node, dim_pair), "a transpose", 0 if operand else 1, ("turned", dim_pair)
    if isinstance(parent, ast.BinOp) and isinstance(parent.op, (ast.Div, ast.Mult)) and parent.right is node:
        yield square_root(node), THE_SCALE, 0, ("root of",)
    is_product = isinstance(node, ast.BinOp) and isinstance(node.op, (ast.MatMult, ast.Mult))
    if is_product or isinstance(node, (ast.Call, ast.Name)):
        sizes = [f"{name}.shape[-1]" for name in scope.values[:8]] + [f"self.{name}" for name in scope.attributes[:8]]
        for size in (*sizes, *scope.values[:8]):
            yield partial(substitute, node, f"(E) / ({size}) ** 0.5"), THE_SCALE, 1, ("scaled", size)
    if isinstance(parent, ast.Assign) and isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
        yield partial(substitute, node, "(E).clone()"), MISSING, 0, None  # another name of a tensor, or a view of it
    for tier, texts in enumerate(WRAPS, 1):
        for text in texts:
            kind = COMPUTED if text in WAYS_BACK else MISSING
            yield partial(substitute, node, text), kind, tier, ("wrapped", text)
    for mask in ("float('-inf')", "0.0"):
        text = f"(E).masked_fill((E).new_ones((E).shape[-2:]).triu(1).bool(), {mask})"
        yield partial(substitute, node, text), MISSING, 1, ("masked", mask)
    for name in scope.unused[:3]:
        yield from ((partial(substitute, node, f"(E) {operator} {name}"), MISSING, 0, None) for operator in "-/*+@")
    for layer in scope.layers[:6]:
        yield partial(substitute, node, f"self.{layer}(E)"), MISSING, 1, None
    for name in scope.values[:6]:
        for operator in ("@", "+", "*"):
            yield partial(substitute, node, f"(E) {operator} {name}"), MISSING, 2, None
        yield partial(substitute, node, f"(E).to({name}.dtype)"), MISSING, 2, None


def other_calls(node: ast.Call, scope: Scope) -> Iterator[Replacement]:
    name = called_name(node)
    argument = f"an argument of {name}"
    for index, keyword in enumerate(node.keywords):
        remaining_keywords = [*node.keywords[:index], *node.keywords[index + 1 :]]
        is_scale = keyword.arg == "scale"  # without it ready-made attention scales as it should
        kind, tier = (THE_SCALE, SLIP) if is_scale else (argument, 0)
        yield ast.Call(node.func, node.args, remaining_keywords), kind, tier, ("drop", name, keyword.arg)
    for keyword_text in _missing_keywords(node, name, scope):
        extra = expression(f"f({keyword_text})").keywords  # type: ignore[attr-defined]
        kept_keywords = [given for given in node.keywords if given.arg not in {new.arg for new in extra}]
        is_slip = keyword_text == KEEPDIM and bool(node.args or node.keywords)
        tier = SLIP if is_slip else 0 if len(extra) == 1 else 1
        yield ast.Call(node.func, node.args, [*kept_keywords, *extra]), argument, tier, ("add", name, keyword_text)
    if name in ALONG and not any(given.arg in ("dim", "axis") for given in node.keywords):
        dim_position = 0 if isinstance(node.func, ast.Attribute) and not is_library(node.func.value) else 1
        if len(node.args) <= dim_position:
            dims = [*map(constant, (-1, -2, 0, 1)), *(expression(name) for name in scope.dims)]
            for new in dims:
                yield ast.Call(node.func, [*node.args, new], node.keywords), argument, 0, ("dim", name, ast.dump(new))
                if name in REDUCING:
                    yield from _reduce(node, new, dim_position)
    for index in range(len(node.args) - 1):
        swapped = [*node.args]
        swapped[index], swapped[index + 1] = swapped[index + 1], swapped[index]
        order = f"the order of the arguments of {name}"
        yield ast.Call(node.func, swapped, node.keywords), order, 0, ("swap", name, index)
    for index in range(len(node.args)) if len(node.args) > 1 else ():
        remaining_arguments = [*node.args[:index], *node.args[index + 1 :]]
        yield ast.Call(node.func, remaining_arguments, node.keywords), argument, 1, ("less", name, index)
    yield from _other_functions(node, name)
    receiver, operand = _receiver(node), _operand(node)
    if operand is not None:
        if name == "exp" and "max" not in ast.unparse(operand):  # large numbers would overflow
            yield _with_operand(node, substitute(operand, SHIFTED)), argument, SLIP, None
        yield operand, f"the call of {name}", 0, ("without", name)
    if receiver is not None and node.args and isinstance(receiver, ast.Name) and receiver.id == "self":
        yield node.args[0], f"the call of {name}", 0, ("without", name)
    if name in ("view", "reshape") and len(node.args) == 4:  # (B, H, T, h) at once, of what is (B, T, H, h) in memory
        first, second, third, last = node.args
        turned = ast.Call(node.func, [first, third, second, last], node.keywords)
        yield partial(transposed, turned, (1, 2)), f"the call of {name}", SLIP, ("through", name)
    if name in ("transpose", "swapaxes", "permute") and receiver is not None:
        for dim_pair in TURNS:
            yield transposed(receiver, dim_pair), "a transpose", 0, ("turn", dim_pair)


def expression_edits(function: Function, scope: Scope) -> Iterator[Edit]:
    """The edits of every expression of a function, in the order of the expressions."""
    computes = function.name != "__init__"
    for node, slot, parent in slots(function):
        for new, kind, tier, sign in _replacements(node, parent, scope):
            yield Edit((Change(*slot, new),), node.lineno, kind, tier, sign)
        if may_be_wrapped(node, parent):
            added_tier = 0 if isinstance(parent, (ast.Assign, ast.Return)) else 1
            for new, kind, tier, sign in wrap(node, parent, scope) if computes else _registered(node):
                yield Edit((Change(*slot, new),), node.lineno, kind, tier + added_tier if tier else 0, sign)


def _registered(node: ast.expr) -> Iterator[Replacement]:
    """The value registered as a part of its module."""
    for text in ("nn.Parameter(E)", "torch.nn.Parameter(E)", "nn.ModuleList(E)", "torch.nn.ModuleList(E)"):
        yield partial(substitute, node, text), MISSING, 1, ("kept", text)


def slots(function: Function) -> Iterator[tuple[ast.expr, Slot, ast.AST]]:
    """Every expression that is computed, its slot, and its parent node."""
    waiting: list[ast.AST] = [function]
    while waiting:
        parent = waiting.pop(0)
        for field, value in ast.iter_fields(parent):
            if field in SKIPPED or (field == "func" and isinstance(value, ast.Name)):
                continue
            for index, item in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if not isinstance(item, ast.AST) or is_text(item):
                    continue
                if isinstance(item, (ast.JoinedStr, ast.Raise)):  # texts of errors are not compared
                    continue
                if isinstance(item, ast.expr) and not isinstance(getattr(item, "ctx", None), (ast.Store, ast.Del)):
                    yield item, (parent, field, index), parent
                waiting.append(item)


def _other_indices(index: ast.expr) -> Iterator[tuple[ast.expr, str]]:
    if isinstance(index, ast.Slice):
        for lower, upper in _other_bounds(index):
            yield ast.Slice(lower, upper, index.step), "a slice"
    elif not isinstance(index, ast.Constant):
        for sign in (ast.Add(), ast.Sub()):
            yield ast.BinOp(index, sign, ast.Constant(1)), "an index"


def _other_bounds(index: ast.Slice) -> Iterator[tuple[ast.expr | None, ast.expr | None]]:
    if index.upper is not None:
        yield index.lower, ast.BinOp(index.upper, ast.Add(), ast.Constant(1))
        yield index.lower, ast.BinOp(index.upper, ast.Sub(), ast.Constant(1))
        yield index.lower, None
        yield index.upper, None
    if index.lower is not None:
        yield ast.BinOp(index.lower, ast.Add(), ast.Constant(1)), index.upper
        yield None, index.upper
        yield None, index.lower


def _reduce(node: ast.Call, dim: ast.expr, dim_position: int) -> Iterator[Replacement]:
    """The same reduction (maximum, sum, mean) along one dimension, which is kept."""
    reduced_value = node.args[0] if dim_position and node.args else getattr(node.func, "value", None)
    if reduced_value is None:
        return
    name = called_name(node)
    argument = f"an argument of {name}"
    if name in ("max", "min"):
        yield ast.Call(ast.Attribute(reduced_value, f"a{name}", ast.Load()), [dim], []), argument, SLIP, None
    is_of_all = not node.keywords and len(node.args) == dim_position  # where each row has a maximum or sum of its own
    for function in ("amax", "sum") if name in ("max", "amax", "sum") else (name,):
        is_slip = is_of_all and function.removeprefix("a") == name.removeprefix("a") and number_of(dim) == -1
        kept = [ast.keyword("keepdim", ast.Constant(True))]
        new = ast.Call(ast.Attribute(reduced_value, function, ast.Load()), [dim], kept)
        yield new, argument, SLIP if is_slip else 1, None


def _missing_keywords(node: ast.Call, name: str, scope: Scope) -> Iterator[str]:
    given_keywords = {keyword.arg for keyword in node.keywords}
    if name in REDUCING and "keepdim" not in given_keywords:
        yield KEEPDIM
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
    ending = "_" if name.endswith("_") and not name.endswith("__") else ""  # of a method that works in place
    plain = name.removesuffix(ending)
    others = {other + ending for row in SIBLINGS if plain in row for other in row} - {name}
    others |= {plain} if ending else {f"{name}_"} if name == "masked_fill" else set()
    for other in sorted(others):
        sign = ("sibling", name, other)
        function: ast.expr = ast.Name(other, ast.Load())
        if isinstance(node.func, ast.Attribute):
            function = ast.Attribute(node.func.value, other, ast.Load())
        yield ast.Call(function, node.args, node.keywords), f"the call of {name}", 0, sign


def _replacements(node: ast.expr, parent: ast.AST, scope: Scope) -> Iterator[Replacement]:
    if isinstance(node, (ast.Name, ast.Subscript)):
        yield from ((ast.Name(name, ast.Load()), "which value is used", 0, None) for name in scope.unread)
    number = number_of(node)
    if number is not None and not isinstance(getattr(parent, "op", None), ast.USub):
        yield from _other_numbers(node, number, parent, scope)
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value), part_in_words(parent), 0, ("flag", part_in_words(parent))
    elif isinstance(node, ast.Name) and node.id in scope.values:
        for other in (name for name in scope.values if name != node.id):
            yield ast.Name(other, node.ctx), "which value is used", 1, ("name", node.id, other)
    elif isinstance(node, ast.Attribute):
        yield from _other_attributes(node, scope)
    elif isinstance(node, ast.Call):
        yield from other_calls(node, scope)
    elif isinstance(node, ast.BinOp):
        yield from _other_operations(node)
        if isinstance(parent, ast.Call) and called_name(parent) == "range":
            yield from ((ast.Name(name, ast.Load()), "an argument of range", 1, None) for name in scope.values)
            if isinstance(node.left, ast.BinOp):  # range(0, T, n) for range(0, T - n + 1, n), which leaves out the rest
                yield node.left.left, "an argument of range", SLIP, None
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        for comparison in COMPARISONS.get(type(node.ops[0]), ()):
            yield ast.Compare(node.left, [comparison()], node.comparators), "a comparison", 1, None
    elif isinstance(node, ast.UnaryOp):
        yield node.operand, "a sign" if isinstance(node.op, ast.USub) else "a negation", 0, ("unary",)
    elif isinstance(node, ast.Subscript):
        yield from other_subscripts(node)
    elif isinstance(node, (ast.Tuple, ast.List)) and node.elts:
        other_kind = ast.List if isinstance(node, ast.Tuple) else ast.Tuple
        if not isinstance(parent, ast.Subscript):
            yield other_kind(node.elts, ast.Load()), "whether it is a tuple or a list", 0, None
        yield from _other_orders(node)


def _other_numbers(node: ast.expr, number: float, parent: ast.AST, scope: Scope) -> Iterator[Replacement]:
    place = part_in_words(parent)
    if isinstance(parent, ast.Call) and called_name(parent) in FILLING:
        yield expression("float('-inf')"), place, 0, None
    if isinstance(number, int):
        index_values = (-1, -2, 0, 1, 2, -3, 3) if "argument" in place or "index" in place else ()
        other_values = (number - 1, number + 1, 0, 1, 2, -number)
        for value in dict.fromkeys((*index_values, *other_values)):
            if value != number:
                yield constant(value), place, 0 if index_values else 1, ("number", place, number, value)
        for name in scope.dims if index_values else ():
            yield ast.Name(name, ast.Load()), place, 0, ("number", place, number, name)
        place_of_name = place if "argument" in place or "index" in place else "a size"
        for tier, name in enumerate(scope.values[:6], 1):
            yield expression(f"{name}.shape[-1]"), "a size", 1 if tier < 4 else 2, None
            yield expression(f"{name}.shape[-2]"), "a size", 2, None
            yield ast.Name(name, ast.Load()), place_of_name, 1 if tier < 4 else 2, None
        for name in scope.attributes[:8]:
            yield expression(f"self.{name}"), "a size", 3, None
    else:
        for text in ("float('-inf')", "0.0", "1.0", "0.5", "-0.5", f"-({number})"):
            yield expression(text), place, 0, ("number", place, number, text)


def _other_attributes(node: ast.Attribute, scope: Scope) -> Iterator[Replacement]:
    if is_own_attribute(node):
        for other in scope.attributes:
            if other != node.attr:
                yield ast.Attribute(node.value, other, node.ctx), "which part of self is used", 0, None
        for name in scope.values:
            yield ast.Name(name, ast.Load()), "which value is used", 2, None
    if node.attr in ("inf", "nan"):
        yield from ((expression(text), "a number", 0, None) for text in ("float('-inf')", "float('inf')", "0.0"))
    if node.attr in ("T", "mT", "data", "H"):
        kind = "a transpose" if node.attr != "data" else "the use of .data"
        yield node.value, kind, 0, ("plain", node.attr)
        for dim_pair in TURNS[:3] if node.attr != "data" else ():
            yield transposed(node.value, dim_pair), "a transpose", 0, ("turn", dim_pair)


def _other_operations(node: ast.BinOp) -> Iterator[Replacement]:
    if isinstance(node.op, SWAPPED):
        yield ast.BinOp(node.right, node.op, node.left), "the order of two operands", 0, ("operands",)
    sign = type(node.op).__name__
    yield node.left, "an operand", 0, ("left", sign)
    yield node.right, "an operand", 0, ("right", sign)
    for other in OPERATORS.get(type(node.op), ()):
        yield ast.BinOp(node.left, other(), node.right), "an operator", 0, ("operator", sign, other.__name__)
    if isinstance(node.op, (ast.Div, ast.Mult)):
        yield ast.BinOp(node.left, node.op, square_root(node.right)), THE_SCALE, 0, ("root",)


def _receiver(call: ast.Call) -> ast.expr | None:
    """`x` of `x.relu()`; None for a function, also one of a library."""
    return call.func.value if isinstance(call.func, ast.Attribute) and not is_library(call.func.value) else None


def _operand(call: ast.Call) -> ast.expr | None:
    """What a call computes with: `x` of `relu(x)` and of `x.relu()`; None where there is none."""
    first = next(iter(call.args), None)
    return _receiver(call) or (None if isinstance(first, ast.Starred) else first)


def _with_operand(call: ast.Call, new: ast.expr) -> ast.Call:
    """The same call, which computes with another operand."""
    if isinstance(call.func, ast.Attribute) and _receiver(call) is not None:
        return ast.Call(ast.Attribute(new, call.func.attr, ast.Load()), call.args, call.keywords)
    return ast.Call(call.func, [new, *call.args[1:]], call.keywords)


def _other_orders(node: ast.Tuple | ast.List) -> Iterator[Replacement]:
    kind: type[ast.Tuple | ast.List] = type(node)
    for index in range(len(node.elts) - 1):
        swapped = [*node.elts]
        swapped[index], swapped[index + 1] = swapped[index + 1], swapped[index]
        yield kind(swapped, ast.Load()), ORDER_OF_PARTS, 0, None
    if len(node.elts) > 2:
        yield kind([*node.elts[1:], node.elts[0]], ast.Load()), ORDER_OF_PARTS, 0, None
        yield kind([node.elts[-1], *node.elts[:-1]], ast.Load()), ORDER_OF_PARTS, 0, None


def constant(value: float) -> ast.expr:
    return ast.Constant(value) if value >= 0 else ast.UnaryOp(ast.USub(), ast.Constant(-value))


def transposed(node: ast.expr, dims: tuple[int, int]) -> ast.expr:
    return ast.Call(ast.Attribute(node, "transpose", ast.Load()), [constant(dims[0]), constant(dims[1])], [])


def square_root(node: ast.expr) -> ast.expr:
    return ast.BinOp(node, ast.Pow(), ast.Constant(0.5))


def is_library(node: ast.expr) -> bool:
    """Whether `node.name(…)` calls a library's function: torch.exp, F.softmax, torch.nn.functional.relu."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id in LIBRARIES
