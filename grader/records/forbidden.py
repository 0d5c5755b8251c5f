"""Finds uses of forbidden ready-made functions in the syntax tree of a source: by name, with the line.

Only code that the restricted functions reach is examined. A name that the file itself defines is the learner's own and
allowed. The worker's watch on dispatched operations
(worker/op_watch.py) finds uses that no name shows.
"""

import ast
import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.records.definitions import BINDING, definitions_of
from grader.records.limited import limited
from grader.records.syntax import FUNCTIONS, constant_getattr, followed, imported, parsed, walked

if TYPE_CHECKING:  # the helper process starts faster without this import
    from grader.catalog import Forbidden

MAX_USES = 100  # the most uses that are reported for one source
LIBRARIES = {"torch", "numpy", "scipy", "math", "jax", "sklearn", "einops"}


@dataclass(frozen=True)
class Use:
    """One forbidden name in the source. function: the restricted function in which it stands, "" outside of all."""

    name: str
    line: int
    function: str


def forbidden_uses(source: str, rule: "Forbidden") -> list[Use]:
    """The uses of the rule's names in its functions or in code that they call: the first MAX_USES, by line.

    A source that does not parse has none (loading it reports why). Raises BadSubmission where reading exceeds a limit.
    """
    return [Use(*use) for use in _forbidden_uses(source, tuple(rule.functions), tuple(rule.names))]


@limited
def _forbidden_uses(source: str, functions: tuple[str, ...], names: tuple[str, ...]) -> list[tuple[str, int, str]]:
    tables = _tables(source)
    if tables is None:
        return []
    uses: set[Use] = set()
    seen: set[ast.AST] = set()
    for function in _reached(tables.definitions, functions):
        for node in _unseen(tables.definitions[function], seen):
            name = None if node in tables.own_attributes else _used_name(node, tables.aliases)
            if name in names:
                uses.add(Use(name, getattr(node, "lineno", 0), function))
    return [(use.name, use.line, use.function) for use in sorted(uses, key=lambda use: (use.line, use.name))[:MAX_USES]]


@dataclass(frozen=True)
class _Tables:
    """The definitions of a source by name, what its imported names stand for, and the attributes of its own."""

    definitions: dict[str, ast.AST]
    aliases: dict[str, str]
    own_attributes: set[ast.AST]


@functools.lru_cache(maxsize=1)
def _tables(source: str) -> _Tables | None:
    tree = parsed(source)
    if tree is None:
        return None
    nodes = walked(tree)
    definitions, aliases = definitions_of(tree, nodes), followed(nodes, imported(nodes))
    return _Tables(definitions, aliases, _own_attributes(nodes, aliases, definitions))


def _own_attributes(nodes: list[ast.AST], aliases: dict[str, str], definitions: dict[str, ast.AST]) -> set[ast.AST]:
    """The attributes that are named like a definition of the file and belong to no library: the learner's own."""
    own: set[ast.AST] = set()
    visited: set[ast.AST] = set()  # each chain a.b.c is followed once, from its end to its root
    for node in nodes:
        chain = []
        while isinstance(node, ast.Attribute) and node not in visited:
            visited.add(node)
            chain.append(node)
            node = node.value
        library = isinstance(node, ast.Name) and aliases.get(node.id, "").partition(".")[0] in LIBRARIES
        if not library:
            own.update(attribute for attribute in chain if attribute.attr in definitions)
    return own


def _reached(definitions: dict[str, ast.AST], roots: tuple[str, ...]) -> list[str]:
    """The restricted functions and every definition of the file that they use, directly or not."""
    reached: dict[str, None] = {}  # an ordered set
    waiting = [root for root in roots if root in definitions]
    seen: set[ast.AST] = set()
    while waiting:
        name = waiting.pop()
        if name in reached:
            continue
        reached[name] = None
        if definitions[name] in seen:
            continue
        own_names = _bound(definitions[name])
        for node in _unseen(definitions[name], seen):
            used = None
            if isinstance(node, ast.Name) and node.id not in own_names:
                used = node.id
            elif isinstance(node, ast.Attribute) and not isinstance(definitions.get(node.attr), BINDING):
                used = node.attr
            if used in definitions and used not in roots:
                waiting.append(used)
    return list(reached)


def _unseen(root: ast.AST, seen: set[ast.AST]) -> list[ast.AST]:
    """The nodes below `root` that are not in `seen`, to which they are added: no nested function is walked twice."""
    nodes = [node for node in walked(root, seen) if node not in seen]
    seen.update(nodes)
    return nodes


def _bound(function: ast.AST) -> set[str]:
    """The names that a function binds itself (arguments, assignments), which hide the module's names."""
    if not isinstance(function, FUNCTIONS):
        return set()
    nodes = walked(function)
    shared = {name for node in nodes if isinstance(node, (ast.Global, ast.Nonlocal)) for name in node.names}
    bound = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    return (bound | {node.arg for node in nodes if isinstance(node, ast.arg)}) - shared


def _used_name(node: ast.AST, aliases: dict[str, str]) -> str | None:
    """The name that could be forbidden, of a function or an operator, which one node uses."""
    if isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, ast.MatMult):
        return "@"
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        is_of_self = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
        return None if is_of_self else node.attr
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in aliases:
        library, _, name = aliases[node.id].rpartition(".")
        if library.partition(".")[0] in LIBRARIES:
            return name
        return "numpy" if aliases[node.id].partition(".")[0] == "numpy" else None
    attribute = constant_getattr(node, aliases)
    return attribute.rpartition(".")[2] if attribute else None
