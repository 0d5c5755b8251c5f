"""Finds where exactly two expressions differ, and says in words what kind of change that is."""

import ast
from collections.abc import Iterator

from grader.judge.where.nodes import called_name, part_in_words
from grader.judge.where.vocabulary import MISSING

UNSPECIFIC = ("what is computed there", "an operation")  # kinds that say less than which argument is changed


def narrowed(old: ast.expr, new: ast.AST) -> tuple[ast.expr, str]:
    """The innermost part of an expression that must change to make it another one, and what kind of change that is.

    Around this part both are the same.
    """
    argument = ""
    while difference := _only_difference(old, new):
        old_part, new_part = difference
        argument = part_in_words(old) if isinstance(old, ast.Call) and old_part in old.args else ""
        if isinstance(old_part, ast.keyword) and isinstance(new_part, ast.keyword):
            argument, old_part, new_part = part_in_words(old_part), old_part.value, new_part.value
        if not isinstance(old_part, ast.expr):
            break
        old, new = old_part, new_part
    kind = _kind(old, new)
    return old, argument if argument and kind in UNSPECIFIC else kind


def _only_difference(old: ast.AST, new: ast.AST) -> tuple[ast.AST, ast.AST] | None:
    """The one part in which two nodes of one type differ; None where several do, or one that is no expression."""
    old_parts, new_parts = list(_parts(old)), list(_parts(new))
    if type(old) is not type(new) or len(old_parts) != len(new_parts):
        return None
    differences = [pair for pair in zip(old_parts, new_parts) if _text(pair[0]) != _text(pair[1])]
    if len(differences) != 1 or not all(isinstance(part, (ast.expr, ast.keyword)) for part in differences[0]):
        return None
    old_part, new_part = differences[0]
    if isinstance(old, ast.Call) and old_part is old.func:  # another function, or a method of another value
        if not (
            isinstance(old_part, ast.Attribute)
            and isinstance(new_part, ast.Attribute)
            and old_part.attr == new_part.attr
        ):
            return None
        old_part, new_part = old_part.value, new_part.value
    if isinstance(old_part, ast.keyword) and isinstance(new_part, ast.keyword) and old_part.arg != new_part.arg:
        return None
    return (old_part, new_part) if isinstance(old_part, ast.AST) and isinstance(new_part, ast.AST) else None


def _parts(node: ast.AST) -> Iterator[object]:
    for _, value in ast.iter_fields(node):
        yield from value if isinstance(value, list) else [value]


def _text(part: object) -> str:
    return ast.dump(part) if isinstance(part, ast.AST) else repr(part)


def _contains(whole: ast.AST, part: ast.AST) -> bool:
    part_text = ast.dump(part)
    return any(ast.dump(node) == part_text for node in ast.walk(whole) if node is not whole)


def _kind(old: ast.expr, new: ast.AST) -> str:
    if not isinstance(old, ast.Constant) and _contains(new, old):
        return MISSING
    name = called_name(old) if isinstance(old, ast.Call) else ""
    if name == "a call":
        return name
    if name and isinstance(new, ast.Call) and called_name(new) == name and not _contains(old, new):
        arguments = old.args or old.keywords if isinstance(old, ast.Call) else ()
        return f"what {name} is called with" if arguments else f"what {name} is called on"
    if name and (isinstance(new, ast.Call) or _contains(old, new)):
        return f"the call of {name}"
    if _contains(old, new) and isinstance(old, ast.BinOp):
        return "an operand"
    return "an operation" if isinstance(old, (ast.BinOp, ast.Compare, ast.UnaryOp)) else "what is computed there"
