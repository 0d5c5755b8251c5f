"""Carries the change that a mistake makes in one file into another file, with that file's names."""

import ast

from grader.judge.where.edits import dump

# Names that every file of an exercise has.
COMMON_NAMES = frozenset(
    ("torch", "self", "math", "nn", "F", "sorted", "len", "range", "float", "set", "int", "print", "ValueError")
)


def changed_part(right: ast.AST, wrong: ast.AST) -> tuple[ast.AST, ast.AST] | None:
    """The smallest part that differs, and what it became; None where several places differ.

    A run of statements is given as a Module that holds them, with the statement before it where it is empty otherwise.
    """
    if type(right) is not type(wrong):
        return right, wrong
    parts: list[tuple[ast.AST, ast.AST]] = []
    for field in right._fields:
        old, new = getattr(right, field, None), getattr(wrong, field, None)
        if isinstance(old, list) and len(old) == len(new):
            parts += [(a, b) for a, b in zip(old, new) if dump(a) != dump(b)]
        elif isinstance(old, list) and old and isinstance(old[0], ast.stmt):
            parts.append(run_of_statements(old, new))
        elif dump(old) != dump(new):
            if not (isinstance(old, ast.AST) and isinstance(new, ast.AST)):
                return right, wrong
            parts.append((old, new))
    if len(parts) != 1:
        return None if isinstance(right, (ast.Module, ast.ClassDef, ast.FunctionDef)) else (right, wrong)
    if isinstance(parts[0][0], (ast.operator, ast.cmpop, ast.unaryop, ast.boolop, ast.expr_context)):
        return right, wrong
    return parts[0] if isinstance(parts[0][0], ast.Module) else changed_part(*parts[0])


def run_of_statements(right_body: list, wrong_body: list) -> tuple[ast.AST, ast.AST]:
    most = min(len(right_body), len(wrong_body))
    start, end = 0, 0
    while start < most and dump(right_body[start]) == dump(wrong_body[start]):
        start += 1
    while end < most - start and dump(right_body[-1 - end]) == dump(wrong_body[-1 - end]):
        end += 1
    start -= start > 0 and start == len(right_body) - end
    right, wrong = (ast.Module(body[start : len(body) - end], []) for body in (right_body, wrong_body))
    return right, wrong


def carried(source: str, old: ast.AST, new: ast.AST) -> str | None:
    """The source with the first part that equals `old`, up to names, replaced by `new`; None where there is none.

    A change of a whole function is not carried, as it would replace the style.
    """
    parts = sum(isinstance(node, (ast.expr, ast.stmt)) for node in ast.walk(old))
    if isinstance(old, (ast.FunctionDef, ast.ClassDef, ast.arguments)) or parts < 2:
        return None
    tree, statements = ast.parse(source), isinstance(old, ast.Module)
    for parent in ast.walk(tree):
        for field, value in ast.iter_fields(parent):
            if field in ("annotation", "returns"):  # it says nothing to Python
                continue
            is_list = isinstance(value, list)
            for index, item in enumerate(value) if is_list else [(None, value)]:
                length = len(old.body) if statements else 1
                nodes = value[index : index + length] if is_list else [item]
                names: dict[str, str] = {}
                if not alike(old.body if statements else [old], nodes, names):
                    continue
                replacements = [renamed(node, names) for node in (new.body if statements else [new])]
                if None in replacements:
                    continue
                if is_list:
                    value[index : index + length] = replacements
                else:
                    setattr(parent, field, replacements[0])
                try:
                    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"
                except ValueError:
                    return None
    return None


def alike(pattern: object, node: object, names: dict[str, str]) -> bool:
    """Whether a tree equals the pattern up to the names of variables. names: the tree's for the pattern's, extended."""
    if isinstance(pattern, ast.Name) and isinstance(node, ast.Name):
        counterpart = names.setdefault(pattern.id, node.id)
        return counterpart == node.id
    if isinstance(pattern, list) and isinstance(node, list):
        return len(pattern) == len(node) and all(alike(a, b, names) for a, b in zip(pattern, node))
    if isinstance(pattern, ast.AST) and type(pattern) is type(node):
        return all(alike(getattr(pattern, f, None), getattr(node, f, None), names) for f in pattern._fields)
    return not isinstance(pattern, ast.AST) and pattern == node


def renamed(node: ast.AST, names: dict[str, str]) -> ast.AST | None:
    """A copy with the other file's names; None where it needs a name without counterpart."""
    try:
        copy = ast.parse(ast.unparse(node))
    except SyntaxError:
        return None
    for name_node in ast.walk(copy):
        if isinstance(name_node, ast.Name):
            if name_node.id not in names and name_node.id not in COMMON_NAMES:
                return None
            name_node.id = names.get(name_node.id, name_node.id)
    first = copy.body[0]
    return first.value if isinstance(node, ast.expr) and isinstance(first, ast.Expr) else first
