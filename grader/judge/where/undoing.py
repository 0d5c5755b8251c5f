"""Edits that undo a named mistake: where it differs from the solution, the learner's code is changed the same way."""

import ast
import copy
import functools
import itertools
from collections.abc import Iterator, Sequence

from grader.judge.where.alignment import Alignment, Difference, similarity, words
from grader.judge.where.donors import narrow
from grader.judge.where.edits import (
    Change,
    Edit,
    called_name,
    dump,
    is_own_attribute,
    number_of,
    stored_names,
    substitute,
)
from grader.judge.where.expressions import PRODUCTS, slots

MAX_EDITS, MAX_OF_NODE = 160, 70
MOST_OTHERS = (10, 8)  # names of the learner's that are tried for one local name of the solution's, and for each of two
Path = list[tuple[str, int | None]]  # fields that lead from an expression to a part of it


def undoing_edits(alignment: Alignment, found: Sequence[Difference]) -> Iterator[Edit]:
    """The edits of the learner's definition that undo these differences, the likeliest first."""
    scored = [sorted(_edits(alignment, difference), key=lambda pair: -pair[0]) for difference in found]
    by_difference = [[edit for _, edit in pairs] for pairs in scored]
    if len(found) > 1 and all(by_difference):
        changes = tuple(change for edits in by_difference for change in edits[0].changes)
        if len({(id(change.parent), change.field, change.index) for change in changes}) == len(changes):
            lines = tuple(sorted({edits[0].line for edits in by_difference}))
            yield Edit(changes, lines[0], by_difference[0][0].kind, 0, None, lines)
    for edits in by_difference:
        yield from edits[: MAX_EDITS // len(by_difference)]


def _edits(alignment: Alignment, difference: Difference) -> Iterator[tuple[float, Edit]]:
    """Each edit with the similarity of its expression and statement to those of the mistake."""
    counterpart = alignment.rename(difference.wrong) or difference.wrong
    wrong_words = words(counterpart)
    statement_words = words(alignment.rename(difference.statement) or difference.statement)
    likeness = functools.cache(lambda part: similarity(statement_words, words(part)))
    around = _around(alignment.unit.node)
    assignments = _assignments(alignment.unit.node)
    for node, slot, _ in slots(alignment.unit.node):
        statement = around[id(node)]
        nearest = _nearest(assignments, statement, node.lineno)
        replacements = [*itertools.islice(_replacements(node, difference, alignment, nearest), MAX_OF_NODE)]
        if not replacements:
            continue
        is_equal = ast.dump(counterpart) in (ast.dump(node), ast.dump(_meant(node, alignment)))
        score = 1.0 if is_equal else similarity(wrong_words, words(node))
        score += likeness(statement)
        for new in replacements:
            changed, kind = narrow(node, new)
            line = getattr(changed, "lineno", node.lineno)
            yield score, Edit((Change(*slot, new),), line, kind, 0)


def _around(function: ast.AST) -> dict[int, ast.AST]:
    """The innermost statement around each expression, by its `id`."""
    found: dict[int, ast.AST] = {}
    for node in ast.walk(function):  # an outer statement comes before those in it
        if isinstance(node, ast.stmt):
            found |= dict.fromkeys(map(id, ast.walk(node)), node)
    return found


def _assignments(function: ast.AST) -> dict[str, list[int]]:
    """The parameters and local names of a definition, with the lines that assign to them."""
    arguments = (node for node in ast.walk(function) if isinstance(node, ast.arg) and node.arg not in ("self", "ctx"))
    lines: dict[str, list[int]] = {}
    found = [(argument.arg, argument.lineno) for argument in arguments]
    for name, line in (*found, *((stored.id, stored.lineno) for stored in stored_names(function) if stored.id != "_")):
        lines.setdefault(name, []).append(line)
    return lines


def _nearest(assignments: dict[str, list[int]], statement: ast.AST, line: int) -> list[str]:
    """The names that a line may read: those of its statement first, then by how near they are assigned."""
    here = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
    distances = {name: min(abs(line - other) for other in lines) for name, lines in assignments.items()}
    known = [name for name, lines in assignments.items() if min(lines) <= line]
    return sorted(known, key=lambda name: (name not in here, distances[name]))


def _replacements(
    node: ast.expr, difference: Difference, alignment: Alignment, nearest: Sequence[str]
) -> Iterator[ast.expr]:
    """What the learner's expression may have to be, if it is the difference's wrong one."""
    wrong, right = difference.wrong, difference.right
    if isinstance(wrong, ast.Call) and isinstance(right, ast.Call) and _name(wrong) == _name(right):
        if isinstance(node, ast.Call) and _name(node) == _name(wrong):
            yield from _with_arguments(node, wrong, right, alignment)
        return
    if isinstance(wrong, ast.Attribute) and isinstance(right, ast.Attribute) and wrong.attr != right.attr:
        if isinstance(node, ast.Attribute) and node.attr.rstrip("_") == wrong.attr.rstrip("_"):
            ending = "_" * (node.attr.endswith("_") and not right.attr.endswith("_"))
            yield ast.Attribute(node.value, alignment.attributes.get(right.attr, right.attr) + ending, node.ctx)
        elif is_own_attribute(wrong) and is_own_attribute(right) and dump(node) == dump(alignment.rename(wrong)):
            yield ast.Attribute(right.value, alignment.attributes.get(right.attr, right.attr), right.ctx)
        return
    if isinstance(wrong, ast.BinOp) and isinstance(right, ast.BinOp) and type(wrong.op) is not type(right.op):
        if isinstance(node, ast.BinOp) and type(node.op) is type(wrong.op):
            yield ast.BinOp(node.left, right.op, node.right)
        if ast.dump(wrong.left) == ast.dump(right.left) and ast.dump(wrong.right) == ast.dump(right.right):
            return
    compared = [one for one in (wrong, right, node) if isinstance(one, ast.Compare) and len(one.ops) == 1]
    if isinstance(node, ast.Compare) and len(compared) == 3 and type(node.ops[0]) is type(compared[0].ops[0]):
        yield ast.Compare(node.left, compared[1].ops, node.comparators)
    if not _is_like(node, wrong, alignment):
        return
    path = _path(right, wrong)
    if path is not None:
        yield from _put_around(node, right, path, alignment, nearest)
        return
    path = _path(wrong, right)
    if path is not None:
        inner = _at(node, path)
        if isinstance(inner, ast.expr):
            yield inner
        return
    if isinstance(right, ast.Name) and right.id not in alignment.names:
        yield from (ast.Name(name, ast.Load()) for name in nearest[: MOST_OTHERS[0]])
    new = alignment.rename(right)
    if new is not None:
        yield new


def _meant(node: ast.expr, alignment: Alignment) -> ast.expr:
    """The value of a local name of the learner's; any other expression as it is."""
    return alignment.own_values.get(node.id, node) if isinstance(node, ast.Name) else node


def _name(call: ast.Call) -> str:
    return called_name(call).rstrip("_")


def _is_like(node: ast.expr, wrong: ast.expr, alignment: Alignment) -> bool:
    """Whether the learner's expression may stand for the wrong one: an equal number or name, or a like operation."""
    number = number_of(wrong)
    if number is not None:
        return number_of(node) == number
    if isinstance(wrong, ast.Name):  # one without counterpart may be any
        return isinstance(node, ast.Name) and alignment.names.get(wrong.id, node.id) == node.id
    renamed = alignment.rename(wrong)
    if renamed is not None and ast.dump(renamed) in (ast.dump(node), ast.dump(_meant(node, alignment))):
        return True
    if isinstance(wrong, ast.Call):
        is_product = called_name(wrong) in PRODUCTS and isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult)
        return is_product or (isinstance(node, ast.Call) and _name(node) == _name(wrong))
    if isinstance(wrong, ast.BinOp):
        is_product = isinstance(wrong.op, ast.MatMult) and isinstance(node, ast.Call) and called_name(node) in PRODUCTS
        return is_product or (isinstance(node, ast.BinOp) and type(node.op) is type(wrong.op))
    return isinstance(wrong, (ast.Compare, ast.UnaryOp, ast.Subscript)) and type(node) is type(wrong)


def _with_arguments(node: ast.Call, wrong: ast.Call, right: ast.Call, alignment: Alignment) -> Iterator[ast.expr]:
    """The learner's call with the arguments in which the right call differs from the wrong one."""
    wrong_keywords = {keyword.arg: keyword.value for keyword in wrong.keywords}
    right_keywords = {keyword.arg: keyword.value for keyword in right.keywords}
    dropped = wrong_keywords.keys() - right_keywords.keys()
    changed: dict[str | None, ast.expr] = {}
    for name, value in right_keywords.items():
        renamed = alignment.rename(value)
        if renamed is not None and (name not in wrong_keywords or ast.dump(wrong_keywords[name]) != ast.dump(value)):
            changed[name] = renamed
    kept = [keyword for keyword in node.keywords if keyword.arg not in dropped and keyword.arg not in changed]
    keywords = [*kept, *(ast.keyword(name, value) for name, value in changed.items())]
    added = [alignment.rename(argument) for argument in right.args[len(wrong.args) :]]
    args = [*node.args, *(argument for argument in added if argument is not None)]
    if len(wrong.args) > len(right.args):
        args = args[: len(args) - len(wrong.args) + len(right.args)]
    if len(args) != len(node.args) or len(keywords) != len(node.keywords) or changed:
        yield ast.Call(node.func, args, keywords)


def _path(whole: ast.AST, part: ast.AST) -> Path | None:
    """The fields that lead from an expression to a part of it; None where it has none such."""
    for field, value in ast.iter_fields(whole):
        for index, item in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(item, ast.AST):
                if isinstance(item, ast.expr) and ast.dump(item) == ast.dump(part):
                    return [(field, index)]
                inner = _path(item, part)
                if inner is not None:
                    return [(field, index), *inner]
    return None


def _at(node: ast.AST, path: Path) -> ast.AST | None:
    """What lies at the end of a path; None where it does not lead anywhere."""
    found: object = node
    for field, index in path:
        found = getattr(found, field, None)
        if index is not None:
            found = found[index] if isinstance(found, list) and index < len(found) else None
    return found if isinstance(found, ast.AST) else None


def _put_around(
    node: ast.expr, right: ast.expr, path: Path, alignment: Alignment, nearest: Sequence[str]
) -> Iterator[ast.expr]:
    """The learner's expression with that around it which is around the wrong one in the solution.

    Local names may be any of the learner's. What a product or sum is combined with may also be one value
    that the learner computed before. nearest: the learner's names, the likeliest first.
    """
    frame = _put(copy.deepcopy(right), path, ast.Constant(0))
    read = {name.id for name in ast.walk(frame) if isinstance(name, ast.Name)}
    local_names = sorted(read & alignment.values.keys())
    choices = [{}, {name: name for name in read if name in nearest}]
    if 0 < len(local_names) <= len(MOST_OTHERS):
        others = nearest[: MOST_OTHERS[len(local_names) - 1]]
        choices += [dict(zip(local_names, names)) for names in itertools.permutations(others, len(local_names))]
    for names in choices:
        new = alignment.rename(frame, chosen={name: ast.Name(other, ast.Load()) for name, other in names.items()})
        if new is not None:
            yield _put(new, path, node)
    by_value = {name: alignment.rename(alignment.values[name]) for name in local_names}
    values = {name: value for name, value in by_value.items() if value is not None and not _has_call(value)}
    if values and len(values) == len(local_names):  # the learner may have no name for a size
        new = alignment.rename(frame, chosen=values)
        if new is not None:
            yield _put(new, path, node)
    if isinstance(right, ast.BinOp) and len(path) == 1:
        for name, text in itertools.product(nearest[: MOST_OTHERS[0]], ("E", "E[..., None]")):
            other = substitute(ast.Name(name, ast.Load()), text)
            operator = ast.Mult() if isinstance(right.op, ast.Div) and "scale" in name else right.op
            yield ast.BinOp(node, operator, other) if path[0][0] == "left" else ast.BinOp(other, operator, node)


def _has_call(value: ast.expr) -> bool:
    return any(isinstance(node, ast.Call) for node in ast.walk(value))


def _put(whole: ast.expr, path: Path, node: ast.expr) -> ast.expr:
    """The expression with a node at the end of a path."""
    holder = _at(whole, path[:-1]) if path[:-1] else whole
    field, index = path[-1]
    if index is None:
        setattr(holder, field, node)
    else:
        getattr(holder, field)[index] = node
    return whole
