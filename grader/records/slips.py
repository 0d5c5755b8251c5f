"""Finds the slip because of which a definition is missing: in its name or indent, or a forgotten super().__init__()."""

import ast
import difflib

from grader.records.limited import limited
from grader.records.places import place
from grader.records.syntax import FUNCTIONS, parsed, walked

CLOSE = 0.6  # the least similarity of two names, as difflib measures it
DEFINING = (*FUNCTIONS, ast.ClassDef)


@limited
def of_function(source: str, name: str) -> str:
    """The slip because of which the source has no such function or class at top level; "" where none was found.

    Raises BadSubmission where reading the source exceeds a limit.
    """
    tree = parsed(source)
    for outer in tree.body if tree else ():
        if isinstance(outer, DEFINING) and outer.name != name:
            for node in walked(outer):
                if isinstance(node, DEFINING) and node.name == name:
                    location = place(source, node.lineno)
                    return (
                        f"{name} ({location}) stands inside of {outer.name}: move it to the left, out of {outer.name}"
                    )
    return ""


@limited
def of_method(source: str, owner: str, name: str) -> str:
    """The slip because of which the class `owner` lacks a method or is not initialized; "" where none was found.

    Raises BadSubmission where reading the source exceeds a limit.
    """
    tree = parsed(source)
    classes = [node for node in walked(tree) if isinstance(node, ast.ClassDef) and node.name == owner] if tree else []
    if not classes:
        return ""
    methods = {node.name: node for node in classes[-1].body if isinstance(node, FUNCTIONS)}
    if name in methods:
        return _without_super(source, classes[-1], methods[name]) if name == "__init__" else ""
    for method in methods.values():
        for node in walked(method):
            if isinstance(node, FUNCTIONS) and node.name == name:
                location = place(source, node.lineno)
                return (
                    f"{name} ({location}) stands inside of {method.name}: move it to the left, so that {owner} has it"
                )
    for node in tree.body if tree else ():
        if isinstance(node, FUNCTIONS) and node.name == name and node.args.args[:1] and node.args.args[0].arg == "self":
            location = place(source, node.lineno)
            return f"{name} ({location}) stands outside of the class {owner}: move it to the right, into the class"
    close = difflib.get_close_matches(name, methods, n=1, cutoff=CLOSE)
    if close and close[0] not in ("__init__", "forward"):
        location = place(source, methods[close[0]].lineno)
        return f"{owner} has no method {name}: found {close[0]} ({location}). Rename it"
    return ""


def _without_super(source: str, owner: ast.ClassDef, method: ast.AST) -> str:
    """The slip in the __init__ of a torch.nn.Module: super().__init__() is missing or comes too late; "" otherwise."""
    if not any(ast.unparse(base).rpartition(".")[2] == "Module" for base in owner.bases):
        return ""
    nodes = walked(method)
    calls = [node.lineno for node in nodes if isinstance(node, ast.Attribute) and node.attr == "__init__"]
    stores = [node for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)]
    own_lines = [node.lineno for node in stores if isinstance(node.value, ast.Name) and node.value.id == "self"]
    location = place(source, method.lineno)  # type: ignore[attr-defined]
    if not calls:
        return f"{owner.name}.__init__ ({location}) does not call super().__init__(): that is its first line"
    if own_lines and min(own_lines) < min(calls):
        return f"{owner.name}.__init__ ({location}) sets something before it calls super().__init__(): call that first"
    return ""
