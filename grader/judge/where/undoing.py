"""Edits that undo a named mistake: where it differs from the solution, the learner's code is changed the same way."""

import ast
import copy
import functools
import itertools
from collections.abc import Iterable, Iterator, Sequence

from grader.judge.where.alignment import Alignment, Difference, similarity, words
from grader.judge.where.donors import narrowed
from grader.judge.where.edits import Change, Edit, called_name, number_of
from grader.judge.where.expressions import PRODUCTS, slots

MAX_EDITS = 160
MAX_OTHERS, MAX_OF_PAIR = 10, 8  # names that are tried for one that has no counterpart, and for each of two
Path = list[tuple[str, int | None]]  # fields that lead from an expression to a part of it
Likely = tuple[float, Edit]  # an edit, and how similar its statement is to that of the mistake


def undoing_edits(alignment: Alignment, found: Sequence[Difference]) -> Iterator[Edit]:
    """The edits of the learner's definition that undo these differences, the likeliest first."""
    by_difference = [_ranked(_edits(alignment, difference)) for difference in found]
    if len(found) > 1 and all(by_difference):
        changes = tuple(change for edits in by_difference for change in edits[0].changes)
        if len({(id(change.parent), change.field, change.index) for change in changes}) == len(changes):
            lines = tuple(sorted({edits[0].line for edits in by_difference}))
            yield Edit(changes, lines[0], by_difference[0][0].kind, 0, None, lines)
    for edits in by_difference:
        yield from edits[: MAX_EDITS // len(by_difference)]


def _ranked(edits: Iterable[Likely]) -> list[Edit]:
    return [edit for _, edit in sorted(edits, key=lambda pair: -pair[0])]


def _edits(alignment: Alignment, difference: Difference) -> Iterator[Likely]:
    statement_words = words(alignment.renamed(difference.statement) or difference.statement)
    likeness = functools.cache(lambda number: similarity(statement_words, words(around[number])))
    around = {
        id(child): node
        for node in ast.walk(alignment.unit.node)
        if isinstance(node, ast.stmt) and not hasattr(node, "body")
        for child in ast.walk(node)
    }
    assigned = _assigned(alignment.unit.node)
    for node, slot, _ in slots(alignment.unit.node):
        nearest = _nearest(assigned, around.get(id(node)), node.lineno)
        for new in _replacements(node, difference, alignment, nearest):
            part, kind = narrowed(node, new)
            edit = Edit((Change(*slot, new),), part.lineno if hasattr(part, "lineno") else node.lineno, kind, 0)
            yield (likeness(id(node)) if id(node) in around else 0.0), edit


def _assigned(function: ast.AST) -> dict[str, list[int]]:
    """The parameters and local names of a definition, with the lines that assign to them."""
    lines: dict[str, list[int]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.arg) and node.arg not in ("self", "ctx"):
            lines.setdefault(node.arg, []).append(node.lineno)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id != "_":
            lines.setdefault(node.id, []).append(node.lineno)
    return lines


def _nearest(assigned: dict[str, list[int]], statement: ast.AST | None, line: int) -> list[str]:
    """The names that a line may read: those of its statement first, then by how near they are assigned."""
    here = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)} if statement is not None else set()
    distances = {name: min(abs(line - other) for other in lines) for name, lines in assigned.items()}
    known = [name for name, lines in assigned.items() if min(lines) <= line]
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
        return
    if isinstance(wrong, ast.BinOp) and isinstance(right, ast.BinOp) and type(wrong.op) is not type(right.op):
        if isinstance(node, ast.BinOp) and type(node.op) is type(wrong.op):
            yield ast.BinOp(node.left, right.op, node.right)
        if ast.dump(wrong.left) == ast.dump(right.left) and ast.dump(wrong.right) == ast.dump(right.right):
            return
    if isinstance(wrong, ast.Compare) and isinstance(right, ast.Compare) and isinstance(node, ast.Compare):  # noqa: SIM102
        if [*map(ast.dump, node.ops)] == [*map(ast.dump, wrong.ops)]:
            yield ast.Compare(node.left, right.ops, node.comparators)
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
    new = alignment.renamed(right)
    if new is not None:
        yield new


def _name(call: ast.Call) -> str:
    return called_name(call).rstrip("_")


def _is_like(node: ast.expr, wrong: ast.expr, alignment: Alignment) -> bool:
    """Whether the learner's expression may stand for the wrong one: an equal number or name, or a like operation."""
    number = number_of(wrong)
    if number is not None:
        return number_of(node) == number
    renamed = alignment.renamed(wrong)
    if renamed is not None and ast.dump(renamed) == ast.dump(node):
        return True
    if isinstance(wrong, ast.Call):
        return isinstance(node, ast.Call) and _name(node) == _name(wrong)
    if isinstance(wrong, ast.BinOp):
        is_product = isinstance(wrong.op, ast.MatMult) and isinstance(node, ast.Call) and called_name(node) in PRODUCTS
        return is_product or (isinstance(node, ast.BinOp) and type(node.op) is type(wrong.op))
    if isinstance(wrong, ast.Name):  # one without counterpart may be any
        return isinstance(node, ast.Name) and not isinstance(renamed, ast.Name)
    return isinstance(wrong, (ast.Compare, ast.UnaryOp, ast.Subscript)) and type(node) is type(wrong)


def _with_arguments(node: ast.Call, wrong: ast.Call, right: ast.Call, alignment: Alignment) -> Iterator[ast.expr]:
    """The learner's call with the arguments in which the right call differs from the wrong one."""
    wrong_keywords = {keyword.arg: keyword.value for keyword in wrong.keywords}
    right_keywords = {keyword.arg: keyword.value for keyword in right.keywords}
    dropped = wrong_keywords.keys() - right_keywords.keys()
    changed: dict[str | None, ast.expr] = {}
    for name, value in right_keywords.items():
        renamed = alignment.renamed(value)
        if renamed is not None and (name not in wrong_keywords or ast.dump(wrong_keywords[name]) != ast.dump(value)):
            changed[name] = renamed
    kept = [keyword for keyword in node.keywords if keyword.arg not in dropped and keyword.arg not in changed]
    keywords = [*kept, *(ast.keyword(name, value) for name, value in changed.items())]
    added = [alignment.renamed(argument) for argument in right.args[len(wrong.args) :]]
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

    Names without counterpart may be any of the learner's. What a product or sum is combined with may also be one value
    that the learner computed before. nearest: the learner's names, the likeliest first.
    """
    frame = _put(copy.deepcopy(right), path, ast.Constant(0))
    read = {name.id for name in ast.walk(frame) if isinstance(name, ast.Name)}
    unknown = sorted(name for name in read & alignment.values.keys() if name not in alignment.names)
    count = {0: 0, 1: MAX_OTHERS, 2: MAX_OF_PAIR}.get(len(unknown))
    same = {name: name for name in read if name in nearest}
    choices = [same] if same else []
    if count is not None:
        choices += [dict(zip(unknown, names)) for names in itertools.permutations(nearest[:count], len(unknown))]
    for chosen in choices:
        new = _Named({**alignment.names, **chosen}).visit(copy.deepcopy(frame))
        yield _put(new, path, node)
    if isinstance(right, ast.BinOp) and len(path) == 1:
        for name in nearest[:MAX_OTHERS]:
            other = ast.Name(name, ast.Load())
            operator = ast.Mult() if isinstance(right.op, ast.Div) and "scale" in name else right.op
            yield ast.BinOp(node, operator, other) if path[0][0] == "left" else ast.BinOp(other, operator, node)


class _Named(ast.NodeTransformer):
    """Replaces names by others."""

    def __init__(self, names: dict[str, str]):
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name(self.names.get(node.id, node.id), node.ctx)


def _put(whole: ast.expr, path: Path, node: ast.expr) -> ast.expr:
    """The expression with a node at the end of a path."""
    holder = _at(whole, path[:-1]) if path[:-1] else whole
    field, index = path[-1]
    if index is None:
        setattr(holder, field, node)
    else:
        getattr(holder, field)[index] = node
    return whole
