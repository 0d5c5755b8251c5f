"""Which statements of two definitions say the same."""

import ast
from collections import defaultdict
from collections.abc import Callable, Sequence


def same(one: ast.stmt, other: ast.stmt) -> bool:
    """Whether two statements say the same, with what stands in them."""
    return ast.unparse(one) == ast.unparse(other)


def without_equals(
    mine: list[ast.stmt], theirs: list[ast.stmt], keys: Sequence[Callable[[ast.stmt], str]]
) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """What is left of both after equal statements are taken out. keys: what must be equal, the strictest first."""
    for key in keys:
        held = defaultdict(list)
        for node in theirs:
            held[key(node)].append(node)
        left = []
        for node in mine:
            equal = held[key(node)]
            if equal:
                equal.pop(0)
            else:
                left.append(node)
        mine, theirs = left, [node for nodes in held.values() for node in nodes]
    return mine, theirs


def value_of(node: ast.stmt) -> str:
    """A statement in which a local name that is given a value does not matter."""
    if not isinstance(node, ast.Assign):
        return text_of(node)
    kept = [ast.unparse(target) for target in node.targets if not isinstance(target, (ast.Name, ast.Tuple))]
    return f"{kept} = {ast.unparse(node.value)}"


def text_of(node: ast.stmt) -> str:
    """What two statements must have in common to be the same; of a loop its head, and no word of an error."""
    if isinstance(node, (ast.If, ast.While)):
        return f"if {ast.unparse(node.test)}"
    if isinstance(node, ast.For):
        return f"for {ast.unparse(node.target)} in {ast.unparse(node.iter)}"
    if isinstance(node, ast.With):
        return f"with {[ast.unparse(item) for item in node.items]}"
    return "raise" if isinstance(node, ast.Raise) else ast.unparse(node)
