"""Collects the exercise's definitions from a notebook, as their cells were last run, and all that they depend on.

A kernel runs cells in any order and many times, and the saved file may be older or newer than what was run. So the
history of the kernel decides: of each name the definition that was run last counts. Nothing is executed here.
"""

import ast
import symtable
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from grader.records import submission

EVERYTHING = "*"
COMPREHENSIONS = {"listcomp", "setcomp", "dictcomp", "genexpr"}


@dataclass(frozen=True)
class Statement:
    """One statement of a cell that was run. at: its index in the order in which statements were run."""

    at: int
    cell: int  # the number that the notebook shows: In [5]
    line: int  # its first line in the cell
    text: str
    binds: frozenset[str]  # names that it defines
    changes: frozenset[str]  # names whose object it alters: Model.forward = …, TABLE["a"] = 1
    now: frozenset[str]  # names that it needs while it runs
    later: frozenset[str]  # names that its functions need when they are called


def source(cells: Sequence[str], names_wanted: Iterable[str]) -> str:
    """One source with the definitions of `names_wanted` from the cells that were run; "" where no such cell was run.

    cells: the text of each cell by number, as in IPython's history (number 0 is empty).
    """
    statements = [statement for number, cell in enumerate(cells) for statement in _statements(number, cell)]
    statements = [replace(statement, at=at) for at, statement in enumerate(statements)]
    if not any(name in statement.binds for name in names_wanted for statement in statements):
        return ""
    used = {statement.at for statement in statements if statement.text.startswith("from __future__ ")}
    waiting = [(name, len(statements)) for name in names_wanted]
    seen: set[tuple[str, int]] = set()
    while waiting:
        name, before = need = waiting.pop()
        if need in seen:
            continue
        seen.add(need)
        last = next((s for s in reversed(statements[:before]) if name in s.binds), None)
        since = last.at if last else 0
        needed = [s for s in statements[since:before] if s is last or name in s.changes or EVERYTHING in s.binds]
        for statement in needed:
            used.add(statement.at)
            waiting += [(other, statement.at) for other in statement.now]
            waiting += [(other, len(statements)) for other in statement.later]
    lines, cell, title = [], None, 0
    for statement in (statements[at] for at in sorted(used)):
        if statement.cell != cell:
            cell = statement.cell
            lines.append(f"# --- In [{cell}] ---")
            title = len(lines)
        lines += [""] * (title + statement.line - 1 - len(lines))  # messages name the line in the cell
        lines += statement.text.split("\n")
    return "\n".join(lines) + "\n"


def defined(source: str) -> list[str]:
    """The functions and classes of a source, in order."""
    return [node.name for node in ast.parse(source).body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]


def _statements(number: int, cell: str) -> list[Statement]:
    """The statements of one cell. A cell that is not Python has none, because no part of it was run."""
    try:
        text, _ = submission.without_magics(cell)
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    lines = text.splitlines()
    return [_statement(number, node, lines) for node in tree.body]


def _statement(number: int, node: ast.stmt, lines: list[str]) -> Statement:
    """One statement of the cell with this number and these lines. Its `at` is set later."""
    first = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])
    text = "\n".join(lines[first - 1 : node.end_lineno])
    if ";" in text and not hasattr(node, "body"):  # several statements may share a line
        text = ast.unparse(node)
    return Statement(0, number, first, text, *map(frozenset, _names(node)))


def _names(node: ast.stmt) -> tuple[set[str], set[str], set[str], set[str]]:
    """The global names that a statement binds, changes, needs while it runs, and needs later."""
    table = symtable.symtable(ast.unparse(node), "cell", "exec")
    own = table.get_symbols()
    binds = {symbol.get_name() for symbol in own if symbol.is_assigned() or symbol.is_imported()}
    if isinstance(node, ast.ImportFrom) and node.names[0].name == EVERYTHING:
        binds.add(EVERYTHING)
    now, later = {symbol.get_name() for symbol in own if symbol.is_referenced()}, set[str]()
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        now.add(node.target.id)  # x += 1 reads x too
    _globals(table, now, later)
    changes = set()
    for target in _targets(node):
        while isinstance(target, (ast.Attribute, ast.Subscript)):
            target = target.value
        if isinstance(target, ast.Name):
            changes.add(target.id)
    return binds, changes, now, later


def _globals(table: symtable.SymbolTable, now: set[str], later: set[str]) -> None:
    """Add the global names that the inner scopes use: functions use them when they are called, other scopes at once."""
    for scope in table.get_children():
        at_once = scope.get_type() != "function" or scope.get_name() in COMPREHENSIONS
        into = now if at_once else later
        into |= {symbol.get_name() for symbol in scope.get_symbols() if symbol.is_global() and symbol.is_referenced()}
        _globals(scope, into, later)


def _targets(node: ast.stmt) -> list[ast.expr]:
    """The attributes and items to which a statement assigns, such as `Model.forward`; not those in definitions."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return []
    written = [n for n in ast.walk(node) if isinstance(n, (ast.Attribute, ast.Subscript))]
    return [target for target in written if isinstance(target.ctx, (ast.Store, ast.Del))]
