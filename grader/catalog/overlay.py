"""Composes a mistake from the solution and an overlay, whose definitions replace the solution's by name.

An overlay holds a docstring, imports that the solution lacks, and the definitions that differ: a function, or a bare
`class C:` with the methods that differ. A definition is written in full, without its docstring.
"""

import ast
import difflib
import functools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
IMPORT = (ast.Import, ast.ImportFrom)
MAX_CHANGED = 12  # lines of code; a file that changes more is a different solution, not a mistake
CONTEXT = 2  # unchanged lines that are shown around a change
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Refusal:
    """The reason why a file is not a mistake of this solution, and the line of the file."""

    line: int
    reason: str


@functools.lru_cache(2048)
def compose(solution: str, overlay: str) -> str:
    """The solution's source with the docstring, the imports and the definitions of the overlay.

    Raises ValueError, "line: reason", where the overlay does not fit the solution.
    """
    for refusal in misfits(solution, overlay):
        raise ValueError(f"{refusal.line}: {refusal.reason}")
    lines, tree = solution.split("\n"), _parsed(solution)
    new_lines, new_tree = overlay.split("\n"), _parsed(overlay)
    replaced = definitions(solution)
    edits = [(_span(replaced[name]), _text(new_lines, node)) for name, node in definitions(overlay).items()]
    new_docstring, docstring = _docstring(new_tree), _docstring(tree)
    imports = [line for node in new_tree.body if isinstance(node, IMPORT) for line in _text(new_lines, node)]
    heads = [_span(node)[1] for node in tree.body if isinstance(node, IMPORT) or node is docstring]
    after = max(heads, default=0)
    edits.append(((after, after), imports))
    if new_docstring:
        edits.append((_span(docstring) if docstring else (0, 0), _text(new_lines, new_docstring)))
    for (start, end), text in sorted(edits, key=lambda edit: edit[0], reverse=True):
        lines[start:end] = text
    return "\n".join(lines)


def sentence(overlay: str) -> str:
    """The first line of the overlay's docstring, which the learner reads; "" where there is none."""
    return (ast.get_docstring(_parsed(overlay)) or "").partition("\n")[0]


def misfits(solution: str, overlay: str) -> Iterator[Refusal]:
    """The reasons why the overlay cannot be composed with the solution."""
    try:
        tree = _parsed(overlay)
    except SyntaxError as error:
        yield Refusal(error.lineno or 1, f"it cannot be read: {error.msg}")
        return
    defined, classes = definitions(solution), _classes(solution)
    twice = {name for source in (solution, overlay) for name in _defined_twice(source)}
    for name in twice & definitions(overlay).keys():
        line = definitions(overlay)[name].lineno
        yield Refusal(line, f"{name} is defined twice, so its name does not say which of the two is meant")
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            if node.name not in classes:
                yield Refusal(node.lineno, f"the solution has no class {node.name}")
            elif node.bases or node.keywords or node.decorator_list:
                yield Refusal(node.lineno, f"write a bare `class {node.name}:`, which stands for the solution's")
            else:
                yield from _misfit_methods(node, defined)
        elif isinstance(node, FUNCTION):
            if node.name not in defined:
                yield Refusal(node.lineno, f"the solution has no function {node.name}")
        elif not isinstance(node, IMPORT) and node is not _docstring(tree):
            yield Refusal(node.lineno, "a mistake holds a docstring, imports, functions and classes alone")


def refusals(solution: str, overlay: str) -> list[Refusal]:
    """The reasons why `verify` refuses a mistake: parts that do not fit the solution or are not part of a mistake."""
    refused = list(misfits(solution, overlay))
    if refused:
        return refused
    imported = {ast.dump(node) for node in _parsed(solution).body if isinstance(node, IMPORT)}
    for node in _parsed(overlay).body:
        if isinstance(node, IMPORT) and ast.dump(node) in imported:
            refused.append(Refusal(node.lineno, f"the solution has this already: {ast.unparse(node)}"))
    changes, originals = definitions(overlay), definitions(solution)
    if not changes:
        refused.append(Refusal(1, "it changes no function and no method"))
    for name, node in changes.items():
        if ast.get_docstring(node) is not None:
            refused.append(Refusal(node.lineno, f"{name} has a docstring; a mistake leaves it out"))
        if _code(node) == _code(originals[name]):
            refused.append(Refusal(node.lineno, f"{name} is equal to the solution's; leave it out"))
    changed = sum(changed_lines(originals[name], node) for name, node in changes.items())
    if changed > MAX_CHANGED:
        reason = f"{changed} lines differ from the solution, and {MAX_CHANGED} are the most: make one mistake alone"
        refused.append(Refusal(1, reason))
    return refused


def changed_lines(original: Function, changed: Function) -> int:
    """How many lines of code differ, without comments and docstrings. A replaced block counts with its longer side."""
    matcher = difflib.SequenceMatcher(None, _code(original), _code(changed), autojunk=False)
    return sum(max(b - a, d - c) for kind, a, b, c, d in matcher.get_opcodes() if kind != "equal")


def difference(solution: str, overlay: str) -> list[str]:
    """The changes of a mistake as lines of a unified diff, without docstrings and task comments."""
    lines = solution.split("\n")
    diff_lines, changes = [], definitions(overlay)
    new_lines, originals = overlay.split("\n"), definitions(solution)
    for node in _parsed(overlay).body:
        if isinstance(node, IMPORT):
            diff_lines += [f"+{line}" for line in _text(new_lines, node)]
    for name, node in changes.items():
        old_lines, changed_lines = _bare(lines, originals[name]), _text(new_lines, node)
        diff = list(difflib.unified_diff(old_lines, changed_lines, n=CONTEXT, lineterm=""))[2:]
        diff_lines += [f"@@ {name} @@" if line.startswith("@@") else line for line in diff]
    return diff_lines


def _misfit_methods(node: ast.ClassDef, defined: dict[str, Function]) -> Iterator[Refusal]:
    for item in node.body:
        name = f"{node.name}.{getattr(item, 'name', '')}"
        if not isinstance(item, FUNCTION):
            yield Refusal(item.lineno, f"{node.name} may hold methods alone, no other statement")
        elif name not in defined:
            yield Refusal(item.lineno, f"the solution has no method {name}")
        elif item.col_offset != defined[name].col_offset:
            yield Refusal(item.lineno, f"{name} is indented by {item.col_offset}, not by {defined[name].col_offset}")


@functools.lru_cache(2048)
def _parsed(source: str) -> ast.Module:
    return ast.parse(source)


def _classes(source: str) -> set[str]:
    return {node.name for node in _parsed(source).body if isinstance(node, ast.ClassDef)}


def _named(source: str) -> Iterator[tuple[str, Function]]:
    """The functions with their names, the methods as "Class.method"."""
    for node in _parsed(source).body:
        if isinstance(node, FUNCTION):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from ((f"{node.name}.{item.name}", item) for item in node.body if isinstance(item, FUNCTION))


@functools.lru_cache(2048)
def definitions(source: str) -> dict[str, Function]:
    """The functions and methods of a source: "softmax", "SelfAttention.forward". Raises SyntaxError."""
    return dict(_named(source))


def _defined_twice(source: str) -> list[str]:
    return [name for name, count in Counter(name for name, _ in _named(source)).items() if count > 1]


def _docstring(node: ast.Module | Function) -> ast.stmt | None:
    return node.body[0] if node.body and ast.get_docstring(node, clean=False) is not None else None


def _span(node: ast.stmt) -> tuple[int, int]:
    """The first line, with decorators, and the one after the last, counted from 0."""
    decorators = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)]) - 1, node.end_lineno or node.lineno


def _text(lines: list[str], node: ast.stmt) -> list[str]:
    start, end = _span(node)
    return lines[start:end]


def _bare(lines: list[str], node: Function) -> list[str]:
    """The lines of a definition without its docstring and task comments."""
    start, end = _span(node)
    docstring = _docstring(node)
    left_out = range(*_span(docstring)) if docstring else ()
    remaining_lines = [lines[number] for number in range(start, end) if number not in left_out]
    return [line for line in remaining_lines if not line.lstrip().startswith("# Task")]


def _code(node: Function) -> list[str]:
    """The lines of a definition, in one formatting, without comments and its docstring."""
    copy = ast.parse(ast.unparse(node)).body[0]
    if isinstance(copy, FUNCTION) and _docstring(copy):
        copy.body = copy.body[1:] or [ast.Pass()]
    return ast.unparse(copy).split("\n")
