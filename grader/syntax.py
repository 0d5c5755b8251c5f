"""Forbidden ready-made functions, found in the source's syntax tree: by name, with the line.

Only code that the restricted functions reach is looked at. A name that the file itself defines is
the learner's own and allowed. The worker's dispatcher (worker/bans.py) catches what names hide.
"""

import ast
import functools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import ModuleType

from grader.catalog import Forbidden

BODIES = ("body", "handlers", "orelse", "finalbody", "cases")  # where a statement holds others
LIBRARIES = {"torch", "numpy", "scipy", "math", "jax", "sklearn"}


@dataclass(frozen=True)
class Use:
    """One forbidden name in the source."""

    name: str
    line: int
    function: str


class SourceWords:
    """The words of a source. What a worker tells in words is repeated only where it stands there.

    A worker that was taken over would else write a hidden input into a class's or a function's name.
    """

    def __init__(self, source: str):
        self.source = source

    def vouched(self, name: str, *libraries: ModuleType) -> str:
        """The dotted name, where its parts are words of the source or names in a library; else ""."""
        known = all(self._is_known(part, libraries) for part in name.split("."))
        return name if known else ""

    def _is_known(self, word: str, libraries: tuple[ModuleType, ...]) -> bool:
        return word in self._words or any(word in vars(library) for library in libraries)

    @functools.cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(re.findall(r"\w+", self.source))


@functools.lru_cache(maxsize=2)
def parsed(source: str) -> ast.Module | None:
    """The syntax tree, parsed once. None where there is none: loading says what is wrong."""
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """Every statement, in ast.walk's order, which looks into the expressions too, in ten times the time."""
    found: list[ast.AST] = [tree]
    for node in found:  # which grows meanwhile
        if isinstance(node, ast.stmt):
            yield node
        for field in BODIES:
            found += getattr(node, field, ())


def imported(nodes: Iterable[ast.AST]) -> dict[str, str]:
    """Imported names and what they stand for: {"F": "torch.nn.functional", "sm": "torch.softmax"}."""
    found = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                first = alias.name.partition(".")[0]  # what `import torch.nn` binds
                found[alias.asname or first] = alias.name if alias.asname else first
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                found[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return found


def forbidden_uses(source: str, rule: Forbidden) -> list[Use]:
    """Where the functions of `rule`, or what they call, use one of its names. Sorted by line.

    A source that does not parse has none: loading it says what is wrong.
    """
    if parsed(source) is None:
        return []
    defined, aliases, lone = _tables(source)
    uses = []
    seen: set[ast.AST] = set()
    for function in _reached(defined, rule.functions):
        for node in _unseen(defined[function], seen):
            name = None if node in lone else _used_name(node, aliases)
            if name in rule.names:
                uses.append(Use(name, node.lineno, function))
    return sorted(set(uses), key=lambda use: (use.line, use.name))


@functools.lru_cache(maxsize=2)
def _tables(source: str) -> tuple[dict[str, ast.AST], dict[str, str], set[ast.AST]]:
    """What a source defines, what it imports, and the attributes that are its own."""
    tree = parsed(source)
    defined, aliases = _definitions(tree), imported(statements(tree))
    return defined, aliases, _lone_attributes(tree, aliases, defined)


def _definitions(tree: ast.Module) -> dict[str, ast.AST]:
    """Functions, classes and simple assignments of the module, by name; methods by their own."""
    found: dict[str, ast.AST] = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.setdefault(node.name, node)
    for node in tree.body:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    found.setdefault(target.id, node)
    return found


def _reached(defined: dict[str, ast.AST], roots: tuple[str, ...]) -> list[str]:
    """The restricted functions and every definition of the file that they lead to."""
    reached: dict[str, None] = {}  # a set that keeps its order
    waiting = [root for root in roots if root in defined]
    seen: set[ast.AST] = set()
    while waiting:
        name = waiting.pop()
        if name in reached:
            continue
        reached[name] = None
        if defined[name] in seen:
            continue
        own = _bound(defined[name])
        for node in _unseen(defined[name], seen):
            found = None
            if isinstance(node, ast.Name) and node.id not in own:
                found = node.id
            elif isinstance(node, ast.Attribute) and not isinstance(defined.get(node.attr), ast.Assign):
                found = node.attr
            if found in defined and found not in roots:
                waiting.append(found)
    return list(reached)


def _unseen(root: ast.AST, seen: set[ast.AST]) -> Iterator[ast.AST]:
    """The nodes below `root` that were not walked yet: nested functions are not walked once for each level."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen.add(node)
            waiting.extend(ast.iter_child_nodes(node))
            yield node


def _bound(function: ast.AST) -> set[str]:
    """Names that a function binds itself (arguments, assignments): they are not the module's of that name."""
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return set()
    nodes = list(ast.walk(function))
    shared = {name for node in nodes if isinstance(node, (ast.Global, ast.Nonlocal)) for name in node.names}
    bound = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    return (bound | {node.arg for node in nodes if isinstance(node, ast.arg)}) - shared


def _used_name(node: ast.AST, aliases: dict[str, str]) -> str | None:
    if isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, ast.MatMult):
        return "@"
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
        return None if own else node.attr
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in aliases:
        library, _, name = aliases[node.id].rpartition(".")
        if library.partition(".")[0] in LIBRARIES:
            return name
        return "numpy" if aliases[node.id].partition(".")[0] == "numpy" else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "getattr":
        asked = node.args[1] if len(node.args) > 1 else None
        return str(asked.value) if isinstance(asked, ast.Constant) else None
    return None


def _lone_attributes(tree: ast.Module, aliases: dict[str, str], defined: dict) -> set[ast.AST]:
    """Attributes that are named like a definition of the file and come of no library: the learner's own."""
    found: set[ast.AST] = set()
    judged: set[ast.AST] = set()  # each chain a.b.c once, from its end to its root
    for node in ast.walk(tree):
        chain = []
        while isinstance(node, ast.Attribute) and node not in judged:
            judged.add(node)
            chain.append(node)
            node = node.value
        library = isinstance(node, ast.Name) and aliases.get(node.id, "").partition(".")[0] in LIBRARIES
        if not library:
            found.update(part for part in chain if part.attr in defined)
    return found
