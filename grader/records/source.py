"""Reads what a source contains, under limits: words, classes and functions, slips, and what cuts a gradient.

What is said of a source is compared with this, so that no sentence names a call or a dimension that is not there.
A function that is `limited` raises BadSubmission where reading the source exceeds a limit.
"""

import ast
import difflib
import hashlib
import re
from types import ModuleType
from typing import TypedDict

from grader.catalog import stubs
from grader.catalog.patches import FUNCTION, Function, span
from grader.records.limited import limited
from grader.records.syntax import dotted, imported, is_text, parse, place, tree_of

DEFINING = (*FUNCTION, ast.ClassDef)
LEAVING = ("item", "tolist", "numpy")  # methods that turn a tensor into something else


class SourceWords:
    """The words, classes and functions of a source. A worker's reply is repeated only as far as they confirm it.

    Otherwise a compromised worker could disclose a hidden input as the name of a class or function.
    """

    def __init__(self, source: str) -> None:
        self.source, self._words = source, frozenset(re.findall(r"\w+", source))

    def confirmed(self, name: str) -> str:
        """The dotted name, where each of its parts is a word of the source; otherwise ""."""
        return name if set(name.split(".")) <= self._words else ""

    def parameter_part(self, name: str) -> str:
        """A part of a parameter's name, where it is a word of the source, a number or torch's own; otherwise "…"."""
        return name if name in ("weight", "bias") or name.isdecimal() or self.confirmed(name) else "…"

    def class_of(self, name: str, *libraries: ModuleType) -> str:
        """The name, where the source or one of the libraries defines a class of this name; otherwise ""."""
        in_library = any(isinstance(vars(library).get(name), type) for library in libraries)
        return name if in_library or name in outline(self.source)["classes"] else ""

    def function_at(self, line: int) -> tuple[int, int, str]:
        """The first line, last line and name of the innermost function around a line; (0, 0, "") if there is none."""
        around = [span for span in outline(self.source)["functions"] if span[0] <= line <= span[1]]
        return max(around, default=(0, 0, ""))

    def uses(self, name: str, backward: bool = True) -> frozenset[str]:
        """The names that a definition uses, itself or through others, and its own. backward: in such methods too."""
        uses = outline(self.source)["uses" if backward else "uses_forward"]
        used_names: set[str] = set()
        newly_found = {name}
        while newly_found:
            used_names |= newly_found
            newly_found = {used for name_found in newly_found for used in uses.get(name_found, ())} - used_names
        return frozenset(used_names)


class Outline(TypedDict):
    """What a source holds. Each of the last three is by the name of a top-level function or class."""

    depth: int  # of its syntax tree; 0 where it is not Python
    imports: dict[str, str]  # what each imported name stands for: see syntax.imported
    statements: list[tuple[int, list[str]]]  # at top level: the first line, and the names that each may define
    lines: dict[str, int]  # of each function, class and "Class.method"
    classes: list[str]
    functions: list[tuple[int, int, str]]  # first line, last line, name
    uses: dict[str, list[str]]  # the names in it
    uses_forward: dict[str, list[str]]  # the same without methods called `backward`, which only gradients run
    arguments: dict[str, list[str]]  # of a function, or of a class that has an __init__


@limited
def outline(source: str) -> Outline:
    """What a stranger's source holds, read once."""
    tree = tree_of(source)
    nodes = list(ast.walk(tree))
    definitions = [node for node in tree.body if isinstance(node, DEFINING)]
    return {
        "depth": _depth(parse(source)),
        "imports": imported(nodes),
        "statements": [(span(statement)[0] + 1, _may_define(statement)) for statement in tree.body],
        "lines": _lines([node for node in nodes if isinstance(node, DEFINING)]),
        "classes": sorted({node.name for node in nodes if isinstance(node, ast.ClassDef)}),
        "functions": [(node.lineno, node.end_lineno or 0, node.name) for node in nodes if isinstance(node, FUNCTION)],
        "uses": {node.name: _names(node) for node in definitions},
        "uses_forward": {node.name: _names(node, without="backward") for node in definitions},
        "arguments": {node.name: found for node in definitions if (found := _arguments(node)) is not None},
    }


@limited
def slip(source: str, owner: str, name: str) -> str:
    """Why the source lacks a function, or a class a method or a method self; "" where no reason was found.

    owner: the class, or "" where a function or class at top level is looked for.
    """
    tree = tree_of(source)
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == owner]
    if owner and not classes:
        return ""
    body = classes[-1].body if owner else tree.body
    own = {node.name: node for node in body if isinstance(node, DEFINING)}
    if name in own:
        reads_self = any(isinstance(node, ast.Name) and node.id == "self" for node in ast.walk(own[name]))
        if owner and reads_self and not _takes_self(own[name]):
            return f"{_placed(source, own[name])} reads self, but does not take it: self is its first parameter"
        return ""
    for outer in own.values():
        for node in ast.walk(outer):
            is_method = isinstance(outer, ast.ClassDef) and _takes_self(node)  # which happens to be called like it
            if isinstance(node, DEFINING) and node.name == name and not is_method:
                return f"{_placed(source, node)} is inside {outer.name}: move it to the left, out of {outer.name}"
    if not owner:
        return ""
    for node in tree.body:
        if isinstance(node, FUNCTION) and node.name == name and _takes_self(node):
            return f"{_placed(source, node)} is outside the class {owner}: move it to the right, into the class"
    close = difflib.get_close_matches(name, own, n=1)
    if close and close[0] not in ("__init__", "forward"):
        return f"{owner} has no method {name}: found {_placed(source, own[close[0]])}. Rename it"
    return ""


@limited
def written_definitions(source: str) -> dict[str, str]:
    """A digest of each top-level function and class, by its name: equal where two are written alike.

    Docstrings, type hints and formatting do not count. {} for what is no Python.
    """
    tree = ast.parse(source) if parse(source) else ast.Module([], [])  # of its own, since it is changed
    for node in ast.walk(tree):
        if isinstance(node, DEFINING):
            node.body = [part for part in node.body if not is_text(part)] or node.body
        if isinstance(node, FUNCTION):
            node.returns = None
        elif isinstance(node, ast.arg):
            node.annotation = None
    found = [node for node in tree.body if isinstance(node, DEFINING)]
    return {node.name: hashlib.sha256(ast.dump(node).encode()).hexdigest() for node in found}


@limited
def gradient_cuts(source: str) -> list[tuple[str, int, str]]:
    """What may cut a gradient: in which function or class at top level, the line, and the words, as ".detach()"."""
    tree = tree_of(source)
    aliases = imported(ast.walk(tree))
    found = []
    for definition in [node for node in tree.body if isinstance(node, DEFINING)]:
        for node in ast.walk(definition):
            if isinstance(node, ast.Attribute) and node.attr == "data":
                found.append((definition.name, node.lineno, ".data"))
            elif isinstance(node, ast.Call):
                method = getattr(node.func, "attr", "").rstrip("_")
                if method in ("detach", *LEAVING):
                    found.append((definition.name, node.lineno, f".{method}()"))
                elif dotted(node.func, aliases) == ["torch", "tensor"]:
                    found.append((definition.name, node.lineno, "torch.tensor(…)"))
    return found


@limited
def caret(source: str, line: int) -> list[int]:
    """The first column and the one after the last of a syntax error on this line, from 0; [] where there is none."""
    try:
        ast.parse(source)
    except SyntaxError as error:
        if error.lineno == line and error.offset:
            ends_there = error.end_lineno == line and (error.end_offset or 0) > error.offset
            return [error.offset - 1, (error.end_offset or 0) - 1 if ends_there else error.offset]
    return []


def _depth(tree: ast.Module | None) -> int:
    level: list[ast.AST] = [tree] if tree else []
    depth = 0
    while level:
        depth, level = depth + 1, [child for node in level for child in ast.iter_child_nodes(node)]
    return depth


def _may_define(statement: ast.stmt) -> list[str]:
    """The functions and classes in a statement at any depth, what it imports or assigns, "*" for `from … import *`."""
    nodes = list(ast.walk(statement))
    assigns = isinstance(statement, ast.Assign)
    assigned = [node.id for node in nodes if assigns and isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    return [*(node.name for node in nodes if isinstance(node, DEFINING)), *imported([statement]), *assigned]


def _lines(definitions: list[Function | ast.ClassDef]) -> dict[str, int]:
    """The line of each name: of "Class.method" too. Of two that are called alike the first counts."""
    lines: dict[str, int] = {}
    for node in definitions:
        lines.setdefault(node.name, node.lineno)
        for part in node.body if isinstance(node, ast.ClassDef) else ():
            if isinstance(part, DEFINING):
                lines.setdefault(f"{node.name}.{part.name}", part.lineno)
    return lines


def _placed(source: str, definition: Function | ast.ClassDef) -> str:
    """A definition by its name and place: "softmax (line 5)"."""
    return f"{definition.name} ({place(source, definition.lineno)})"


def _names(definition: ast.AST, without: str = "") -> list[str]:
    """The names in a definition, without those in annotations and in methods called `without`."""
    nodes = [definition]
    for node in nodes:
        hints = (getattr(node, "annotation", None), getattr(node, "returns", None))
        parts = [part for part in ast.iter_child_nodes(node) if part not in hints]
        nodes += [part for part in parts if getattr(part, "name", None) != without]
    return sorted({node.id for node in nodes if isinstance(node, ast.Name)})


def _arguments(definition: Function | ast.ClassDef) -> list[str] | None:
    """The arguments of a function, or of a class without self, each with its default; None for a class without any."""
    if isinstance(definition, FUNCTION):
        return list(stubs.arguments(definition))
    makers = [one for one in definition.body if isinstance(one, FUNCTION) and one.name == "__init__"]
    return list(stubs.arguments(makers[-1])[1:]) if makers else None


def _takes_self(node: ast.AST) -> bool:
    return isinstance(node, FUNCTION) and [one.arg for one in (*node.args.posonlyargs, *node.args.args)][:1] == ["self"]
