"""Reads what a source really writes: names, calls and numbers by definition, and faults that its syntax tree shows.

What is said of a source is compared with this, so that no sentence names a call or a dimension that is not there.
"""

import ast
from collections import Counter
from typing import Any

from grader.records.limited import limited
from grader.records.syntax import FUNCTIONS, dotted, imported, parsed, walked

OTHER = ""  # the key of what belongs to no definition
WITH_PARAMETERS = ("Linear", "Embedding", "Parameter", "LayerNorm", "MultiheadAttention", "Conv1d")
JOINS = (["cat"], ["concat"], ["concatenate"])
MAX_ARGUMENTS = 4  # of a call that is a token with them
LARGEST = 1e300  # number that is a token
MAX_TEXT = 80  # characters of code that are repeated


@limited
def tokens(source: str) -> dict[str, list[str]]:
    """The names, calls and numbers of each top-level definition, without type hints; {} for what is no Python.

    Calls are in two forms: "transpose(", and with arguments that are constants "transpose(1, 2)".
    Raises BadSubmission where reading the source exceeds a limit.
    """
    tree = parsed(source)
    found: dict[str, set[str]] = {}
    for statement in tree.body if tree else ():
        name = statement.name if isinstance(statement, (*FUNCTIONS, ast.ClassDef)) else OTHER
        found.setdefault(name, set()).update(_tokens(statement))
    return {name: sorted(words) for name, words in found.items()}


@limited
def faults(source: str) -> list[dict[str, Any]]:
    """Faults that the syntax tree alone shows, each as {"kind", "owner", "function", "line", "what", "code"}.

    "owner" is the class of a method, else "". Kinds: "dropout in forward", "layer in forward", "join without dim",
    "in place" (what: the argument). Raises BadSubmission where reading the source exceeds a limit.
    """
    tree = parsed(source)
    if tree is None:
        return []
    aliases = imported(walked(tree))
    found = []
    owners: list[ast.Module | ast.ClassDef] = [tree, *(node for node in tree.body if isinstance(node, ast.ClassDef))]
    for owner in owners:
        owner_name = owner.name if isinstance(owner, ast.ClassDef) else ""
        for function in owner.body:
            if isinstance(function, FUNCTIONS):
                for kind, node, what in _faults(function, aliases):
                    place = {"owner": owner_name, "function": function.name, "line": node.lineno}
                    found.append({"kind": kind, **place, "what": what, "code": ast.unparse(node)[:MAX_TEXT]})
    return found


def number(text: str) -> str:
    """A number as a token: -2, 0.5."""
    return f"{float(text):g}"


def _tokens(root: ast.AST) -> set[str]:
    parts = [getattr(node, field, None) for node in walked(root) for field in ("annotation", "returns")]
    hints = {part for part in parts if isinstance(part, ast.AST)}
    nodes = [node for node in walked(root, hints) if node not in hints]
    own = {node.arg for node in nodes if isinstance(node, ast.arg)} | set(map(_stored, nodes))
    found: set[str] = set()
    signed = set()
    for node in nodes:  # a sign comes before its number
        if isinstance(node, (ast.Name, ast.Attribute)):
            name = node.id if isinstance(node, ast.Name) else node.attr
            found |= {name} - own  # everybody calls a variable something else
        elif isinstance(node, ast.keyword) and node.arg:
            found.add(node.arg)
        elif isinstance(node, ast.Call):
            found |= _call(node)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and _is_number(node.operand):
            signed.add(node.operand)
            found.add(number(f"-{node.operand.value}"))  # type: ignore[attr-defined]
        elif _is_number(node) and node not in signed:
            found.add(number(str(node.value)))  # type: ignore[attr-defined]
    return found


def _stored(node: ast.AST) -> str:
    """The variable or attribute that a node binds; "" where it binds none."""
    if not isinstance(node, (ast.Name, ast.Attribute)) or not isinstance(node.ctx, ast.Store):
        return ""
    return node.id if isinstance(node, ast.Name) else node.attr


def _call(call: ast.Call) -> set[str]:
    """The call in the forms of `tokens`, without what it is called on."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
    constant = all(isinstance(node, ast.Constant) or _is_signed(node) for node in arguments)
    if not name or not constant or len(arguments) > MAX_ARGUMENTS:
        return {f"{name}("}
    return {f"{name}(", ast.unparse(ast.Call(ast.Name(name), call.args, call.keywords))[:MAX_TEXT]}


def _is_number(node: ast.AST) -> bool:
    value = node.value if isinstance(node, ast.Constant) else None
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < LARGEST


def _is_signed(node: ast.AST) -> bool:
    return isinstance(node, ast.UnaryOp) and _is_number(node.operand)


def _faults(function: ast.FunctionDef | ast.AsyncFunctionDef, aliases: dict[str, str]) -> list[tuple[str, Any, str]]:
    found: list[tuple[str, Any, str]] = []
    nodes = [node for statement in function.body for node in walked(statement)]
    for node in nodes:
        if not isinstance(node, ast.Call):
            continue
        parts = dotted(node.func, aliases)
        is_of_torch = parts[0] in ("torch", "nn") and parts[-2:-1] != ["functional"]
        if function.name == "forward" and is_of_torch and parts[-1] in ("Dropout", "AlphaDropout"):
            found.append(("dropout in forward", node, parts[-1]))
        elif function.name == "forward" and is_of_torch and parts[-1] in WITH_PARAMETERS:
            found.append(("layer in forward", node, parts[-1]))
        elif parts[0] == "torch" and parts[1:] in JOINS and len(node.args) == 1 and not _says_dim(node):
            found.append(("join without dim", node, parts[1]))
    return found + [("in place", node, name) for node, name in _in_place(function, nodes)]


def _says_dim(call: ast.Call) -> bool:
    return any(keyword.arg in ("dim", "axis", None) for keyword in call.keywords)


def _in_place(function: ast.FunctionDef | ast.AsyncFunctionDef, nodes: list[ast.AST]) -> list[tuple[ast.AST, str]]:
    """The statements that write into a tensor argument, which its annotation says it is, and which argument that is."""
    given = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    tensors = {
        one.arg for one in given if one.annotation is not None and ast.unparse(one.annotation).endswith("Tensor")
    }
    bound = Counter(node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    augmented = Counter(getattr(node.target, "id", "") for node in nodes if isinstance(node, ast.AugAssign))
    rebound = {name for name, count in bound.items() if count > augmented[name]}  # then it is a tensor of its own
    found: list[tuple[ast.AST, str]] = []
    for node in nodes:
        written: ast.AST | None = None
        if isinstance(node, ast.AugAssign):
            written = node.target
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            written = node.targets[0]
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            called = node.value.func
            name = called.attr if isinstance(called, ast.Attribute) else ""
            is_in_place = name.endswith("_") and not name.endswith("__") and name != "requires_grad_"
            written = called.value if is_in_place and isinstance(called, ast.Attribute) else None
        while isinstance(written, ast.Subscript):
            written = written.value
        if isinstance(written, ast.Name) and written.id in tensors - rebound:
            found.append((node, written.id))
    return found
