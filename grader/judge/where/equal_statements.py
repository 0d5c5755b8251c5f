"""Finds the statements that two definitions have in common."""

import ast
from collections import defaultdict
from collections.abc import Callable, Sequence


def same(first: ast.stmt, second: ast.stmt) -> bool:
    """Whether two statements are equal, with all statements in them."""
    return ast.unparse(first) == ast.unparse(second)


def without_equals(
    own_statements: list[ast.stmt], solution_statements: list[ast.stmt], keys: Sequence[Callable[[ast.stmt], str]]
) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """The statements of both without those that are equal. keys: what must be equal, the strictest first."""
    for key in keys:
        solution_by_key = defaultdict(list)
        for node in solution_statements:
            solution_by_key[key(node)].append(node)
        unmatched = []
        for node in own_statements:
            equal_statements = solution_by_key[key(node)]
            if equal_statements:
                equal_statements.pop(0)
            else:
                unmatched.append(node)
        own_statements, solution_statements = unmatched, [node for nodes in solution_by_key.values() for node in nodes]
    return own_statements, solution_statements


def value_of(node: ast.stmt) -> str:
    """The text of a statement without the local names to which it assigns."""
    if not isinstance(node, ast.Assign):
        return text_of(node)
    stored_targets = [ast.unparse(target) for target in node.targets if not isinstance(target, (ast.Name, ast.Tuple))]
    return f"{stored_targets} = {ast.unparse(node.value)}"


def text_of(node: ast.stmt) -> str:
    """The text that equal statements have in common: of a loop its head, of a raise not the words of the error."""
    if isinstance(node, (ast.If, ast.While)):
        return f"if {ast.unparse(node.test)}"
    if isinstance(node, ast.For):
        return f"for {ast.unparse(node.target)} in {ast.unparse(node.iter)}"
    if isinstance(node, ast.With):
        return f"with {[ast.unparse(item) for item in node.items]}"
    return "raise" if isinstance(node, ast.Raise) else ast.unparse(node)
