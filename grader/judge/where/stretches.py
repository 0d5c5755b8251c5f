"""A stretch of statements that differs from the solution's, to be replaced as a whole by any number of statements."""

import ast
from collections.abc import Sequence

from grader.judge.where.alignment import Alignment
from grader.judge.where.donors import names_in
from grader.judge.where.edits import Change
from grader.judge.where.equal_statements import same
from grader.judge.where.nodes import is_aside, is_docstring
from grader.judge.where.several import Step

MAX_REPLACED = 4  # statements of the learner's
MAX_INSERTED = 12


def stretch(alignment: Alignment, own_names: frozenset[str] = frozenset()) -> tuple[Step, tuple[int, ...]] | None:
    """The change that makes the definition the solution's, and the lines that it replaces.

    None where that is most of the definition, which would say nothing. own_names: names of helpers and attributes of
    the learner's own; no statement that uses one is replaced, as the mistake may be in it.
    """
    function = alignment.unit.node
    learners = [node for node in function.body if not is_docstring(node)]
    solutions = [alignment.with_free_names(node) for node in alignment.twin.node.body if not is_docstring(node)]
    start = _common_length(learners, solutions)
    end = _common_length(learners[start:][::-1], solutions[start:][::-1])
    replaced, replacement = learners[start : len(learners) - end], solutions[start : len(solutions) - end]
    inserted = [node for node in replacement if node is not None]
    if (
        len(inserted) < len(replacement)
        or len(replacement) > MAX_INSERTED
        or not 0 < len(replaced) <= MAX_REPLACED
        or 2 < len(learners) <= len(replaced)
    ):
        return None
    if len(replaced) == len(inserted) == 1 and hasattr(replaced[0], "body"):
        return _single_difference(replaced[0], inserted[0], own_names)
    if any(names_in(node) & own_names for node in replaced):
        return None
    if any(hasattr(node, "body") for node in replaced) and len(replaced) > 1:
        return None
    docstring = function.body[: len(function.body) - len(learners)]
    body = [*docstring, *learners[:start], *inserted, *learners[len(learners) - end :]]
    is_return_missing = (
        bool(inserted) and isinstance(inserted[-1], ast.Return) and not isinstance(replaced[-1], ast.Return)
    )
    is_left_out = _is_pass if is_return_missing else is_aside  # a print may stand in the place of the return
    lines = tuple(node.lineno for node in replaced if not is_left_out(node)) or (replaced[0].lineno,)
    return Step((Change(function, "body", None, body or [ast.Pass()]),), lines[0]), lines


def _is_pass(node: ast.stmt) -> bool:
    return isinstance(node, ast.Pass)


def _single_difference(old: ast.stmt, new: ast.stmt, own_names: frozenset[str]) -> tuple[Step, tuple[int, ...]] | None:
    """The one statement that differs in two loops or conditions of equal length; None where several differ."""
    own_body, solution_body = getattr(old, "body", []), getattr(new, "body", [])
    pairs = [
        (n, learner, solution)
        for n, (learner, solution) in enumerate(zip(own_body, solution_body))
        if not same(learner, solution)
    ]
    if type(old) is not type(new) or len(own_body) != len(solution_body) or len(pairs) != 1:
        return None
    number, learner, solution = pairs[0]
    if hasattr(learner, "body") and hasattr(solution, "body"):
        return _single_difference(learner, solution, own_names)
    if names_in(learner) & own_names:
        return None
    return Step((Change(old, "body", number, solution),), learner.lineno), (learner.lineno,)


def _common_length(learners: Sequence[ast.stmt], solutions: Sequence[ast.stmt | None]) -> int:
    """How many statements at the beginning are equal."""
    count = 0
    for learner, solution in zip(learners, solutions):
        if solution is None or not same(learner, solution):
            break
        count += 1
    return count
