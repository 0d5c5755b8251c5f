"""Reads what a source contains, under limits: words, classes and functions, slips, and faults as written.

What is said of a source is compared with this, so that no sentence names a call or a dimension that is not there.
"""

import ast
import difflib
import functools
import hashlib
import re
from collections import Counter
from types import ModuleType
from typing import Any, TypedDict

from grader.catalog import signatures
from grader.records.limited import limited
from grader.records.syntax import FUNCTIONS, dotted, imported, is_text, parse, place, tree_of, walk

CLOSE = 0.6  # the least similarity of two names, as difflib measures it
DEFINING = (*FUNCTIONS, ast.ClassDef)
Function = ast.FunctionDef | ast.AsyncFunctionDef
WITH_PARAMETERS = ("Linear", "Embedding", "Parameter", "LayerNorm", "MultiheadAttention", "Conv1d")
MAKERS = ("rand", "randn", "randint", "empty", "zeros", "ones", "full", "normal", "Tensor", "FloatTensor")
JOINS = (["cat"], ["concat"], ["concatenate"])
LEAVING = ("item", "tolist", "numpy")  # methods that turn a tensor into something else
TENSORS_OWN = ("shape", "ndim", "dtype", "device", "T", "mT")  # attributes
MAX_TEXT = 80  # characters of code that are repeated


class SourceWords:
    """The words, classes, functions and lines of a source. A worker's reply is repeated only as far as they confirm it.

    Otherwise a compromised worker could disclose a hidden input as the name of a class or function, or as a line.
    """

    def __init__(self, source: str) -> None:
        self.source = source

    def confirmed(self, name: str) -> str:
        """The dotted name, where each of its parts is a word of the source; otherwise ""."""
        return name if set(name.split(".")) <= self._words else ""

    def parameter_part(self, name: str) -> str:
        """A part of a parameter's name, where it is a word of the source, a number or torch's own; otherwise "…"."""
        return name if name in ("weight", "bias") or name.isdecimal() or self.confirmed(name) else "…"

    def class_of(self, name: str, *libraries: ModuleType) -> str:
        """The name, where the source or one of the libraries defines a class of this name; otherwise ""."""
        in_library = any(isinstance(vars(library).get(name), type) for library in libraries)
        return name if in_library or name in self._outline["classes"] else ""

    def function_at(self, line: int) -> str:
        """The name of the innermost function around a line; "" where there is none."""
        return max((span for span in self._outline["functions"] if span[0] <= line <= span[1]), default=(0, 0, ""))[2]

    def uses(self, name: str, backward: bool = True) -> frozenset[str]:
        """The names that a top-level function or class uses, also by way of other ones. Its own is one of them.

        backward: with those that only methods called `backward` use, which run where gradients are asked for.
        """
        uses = self._outline["uses"] if backward else self._outline["uses_forward"]
        used_names: set[str] = set()
        newly_found = {name}
        while newly_found:
            used_names |= newly_found
            newly_found = {used for name_found in newly_found for used in uses.get(name_found, ())} - used_names
        return frozenset(used_names)

    def unread(self, name: str) -> list[str]:
        """The parameters that a top-level function never reads, without those whose names begin with an underscore."""
        return self._outline["unread"].get(name, [])

    def arguments(self, name: str) -> list[str] | None:
        """The arguments of a top-level function, or of a class that has an __init__; None where there is none."""
        return self._outline["arguments"].get(name)

    def runs(self, line: int) -> bool:
        """Whether code that could raise begins on this line. In a source that does not parse, every line counts."""
        return line in self._outline["code"]

    @functools.cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(re.findall(r"\w+", self.source))

    @functools.cached_property
    def _outline(self) -> "Outline":
        return _outline(self.source)


class Outline(TypedDict):
    """What SourceWords reads of a syntax tree. Of the dicts each is by the name of a top-level definition."""

    classes: list[str]
    functions: list[tuple[int, int, str]]  # first line, last line, name
    uses: dict[str, list[str]]  # the names in it
    uses_forward: dict[str, list[str]]  # the same without its methods called `backward`
    arguments: dict[str, list[str]]
    unread: dict[str, list[str]]
    code: list[int]


@limited
def nesting(source: str) -> int:
    """The depth of the syntax tree of a source; 0 for a source that is not Python. Raises BadSubmission as `parses`."""
    tree, depth = parse(source), 0
    level: list[ast.AST] = [tree] if tree is not None else []
    while level:
        depth, level = depth + 1, [child for node in level for child in ast.iter_child_nodes(node)]
    return depth


@limited
def parses(source: str) -> bool:
    """Whether a stranger's source is Python. Raises BadSubmission where parsing exceeds a limit."""
    return parse(source) is not None


@limited
def imports(source: str) -> dict[str, str]:
    """What each name stands for that a stranger's source imports: see syntax.imported."""
    return imported(walk(tree_of(source)))


@limited
def line_of(source: str, name: str) -> int | None:
    """The line on which a stranger's source defines a function, a class or "Class.method"; None where it does not.

    Raises BadSubmission where parsing exceeds a limit.
    """
    nodes = walk(tree_of(source))
    owner, _, method = name.rpartition(".")
    if owner:
        nodes = [
            child for node in nodes if isinstance(node, ast.ClassDef) and node.name == owner for child in node.body
        ]
    return next((node.lineno for node in nodes if isinstance(node, DEFINING) and node.name == method), None)


@limited
def statements(source: str) -> list[list[int]]:
    """The top-level statements of a stranger's source: [first line, last line], decorators included.

    Raises BadSubmission where parsing exceeds a limit.
    """
    return [_span(statement) for statement in tree_of(source).body]


@limited
def star_imports(source: str) -> list[int]:
    """The lines of the top-level statements `from … import *`, which may define any name."""
    imports = [statement for statement in tree_of(source).body if isinstance(statement, ast.ImportFrom)]
    return [statement.lineno for statement in imports if any(alias.name == "*" for alias in statement.names)]


@limited
def defining(source: str, name: str) -> list[list[int]]:
    """The top-level statements that define a function or class of this name, at any depth, or import or assign it.

    Each as [first line, last line]. Raises BadSubmission where parsing exceeds a limit.
    """
    return [
        _span(statement)
        for statement in tree_of(source).body
        if any(isinstance(node, DEFINING) and node.name == name for node in walk(statement))
        or name in imported([statement])
        or (isinstance(statement, ast.Assign) and name in _local_names(walk(statement)))
    ]


@limited
def slip_of_function(source: str, name: str) -> str:
    """The slip because of which the source has no such function or class at top level; "" where none was found.

    Raises BadSubmission where reading the source exceeds a limit.
    """
    for outer in tree_of(source).body:
        if isinstance(outer, DEFINING) and outer.name != name:
            for node in walk(outer):
                if isinstance(node, DEFINING) and node.name == name and not _is_method(outer, node):
                    return f"{_placed(source, node)} is inside {outer.name}: move it to the left, out of {outer.name}"
    return ""


@limited
def slip_of_method(source: str, owner: str, name: str) -> str:
    """The slip because of which the class `owner` lacks a method or is not initialized; "" where none was found.

    Raises BadSubmission where reading the source exceeds a limit.
    """
    tree = tree_of(source)
    classes = [node for node in walk(tree) if isinstance(node, ast.ClassDef) and node.name == owner]
    if not classes:
        return ""
    methods = {node.name: node for node in classes[-1].body if isinstance(node, FUNCTIONS)}
    if name in methods:
        without_self = _without_self(source, methods[name])
        return without_self or (_without_super(source, classes[-1], methods[name]) if name == "__init__" else "")
    for method in methods.values():
        for node in walk(method):
            if isinstance(node, FUNCTIONS) and node.name == name:
                return f"{_placed(source, node)} is inside {method.name}: move it to the left, so that {owner} has it"
    for node in tree.body:
        if isinstance(node, FUNCTIONS) and node.name == name and [one.arg for one in node.args.args[:1]] == ["self"]:
            return f"{_placed(source, node)} is outside the class {owner}: move it to the right, into the class"
    close = difflib.get_close_matches(name, methods, n=1, cutoff=CLOSE)
    if close and close[0] not in ("__init__", "forward"):
        return f"{owner} has no method {name}: found {_placed(source, methods[close[0]])}. Rename it"
    return ""


@limited
def defined_names(source: str) -> list[str]:
    """The functions and classes at top level; none of what is no Python. Raises BadSubmission as `parses`."""
    return [node.name for node in tree_of(source).body if isinstance(node, DEFINING)]


@limited
def written_definitions(source: str) -> dict[str, str]:
    """Each top-level function and class, and each method as "Class.method": one text where two are written alike.

    Docstrings, type hints and formatting do not count. {} for what is no Python.
    Raises BadSubmission where reading the source exceeds a limit.
    """
    found: dict[str, str] = {}
    for node in ast.parse(source).body if parse(source) else ():  # a tree of its own, which it changes
        if isinstance(node, DEFINING):
            found[node.name] = _written(node)
            methods = node.body if isinstance(node, ast.ClassDef) else []
            found |= {f"{node.name}.{part.name}": _written(part) for part in methods if isinstance(part, FUNCTIONS)}
    return found


@limited
def written_faults(source: str) -> list[dict[str, Any]]:
    """Faults that the syntax tree alone shows, each as {"kind", "owner", "function", "line", "what", "code"}.

    "owner" is the class of a method, else "". Kinds: "dropout in forward", "layer in forward", "join without dim",
    "own device", "cut" (of a gradient), "in place" (what: the argument).
    Raises BadSubmission where reading the source exceeds a limit.
    """
    tree = tree_of(source)
    aliases = imported(walk(tree))
    found = []
    owners: list[ast.Module | ast.ClassDef] = [tree, *(node for node in tree.body if isinstance(node, ast.ClassDef))]
    for owner in owners:
        for function in owner.body:
            if isinstance(function, FUNCTIONS):
                place = {"owner": getattr(owner, "name", ""), "function": function.name}
                for kind, node, what in _written_faults(function, aliases):
                    code = ast.unparse(node)[:MAX_TEXT]
                    found.append({"kind": kind, **place, "line": node.lineno, "what": what, "code": code})
    return found


@limited
def caret(source: str, line: int) -> list[int]:
    """The first column and the one after the last of the syntax error on a line, from 0; [] where it is another line.

    Raises BadSubmission where parsing exceeds a limit.
    """
    try:
        ast.parse(source)
    except SyntaxError as error:
        if error.lineno == line and error.offset:
            ends_there = error.end_lineno == line and (error.end_offset or 0) > error.offset
            return [error.offset - 1, (error.end_offset or 0) - 1 if ends_there else error.offset]
    except ValueError:
        pass
    return []


@limited
def _outline(source: str) -> Outline:
    tree = tree_of(source)
    nodes = walk(tree)
    texts = {node for node in nodes if is_text(node) or isinstance(node, (ast.Constant, ast.arg))}
    code = {node.lineno for node in nodes if hasattr(node, "lineno") and node not in texts}
    definitions = [node for node in tree.body if isinstance(node, DEFINING)]
    return {
        "classes": sorted({node.name for node in nodes if isinstance(node, ast.ClassDef)}),
        "functions": [(node.lineno, node.end_lineno or 0, node.name) for node in nodes if isinstance(node, FUNCTIONS)],
        "uses": {node.name: _names(node) for node in definitions},
        "uses_forward": {node.name: _names(node, without="backward") for node in definitions},
        "arguments": {node.name: found for node in definitions if (found := _arguments(node)) is not None},
        "unread": {node.name: _unread(node) for node in definitions if isinstance(node, FUNCTIONS)},
        "code": sorted(code) if parse(source) else list(range(1, len(source.splitlines()) + 1)),
    }


def _placed(source: str, definition: Function | ast.ClassDef) -> str:
    """A definition by its name and place: "softmax (line 5)"."""
    return f"{definition.name} ({place(source, definition.lineno)})"


def _names(definition: ast.AST, without: str = "") -> list[str]:
    """The names in a definition, without those in annotations and in methods called `without`."""
    left_out = [node for node in getattr(definition, "body", ()) if getattr(node, "name", None) == without]
    inside = {node for method in left_out for node in walk(method)}
    nodes = [node for node in walk(definition) if node not in inside]
    hints = [getattr(node, field, None) for node in nodes for field in ("annotation", "returns")]
    hint_nodes = {node for hint in hints if isinstance(hint, ast.AST) for node in walk(hint)}
    return sorted({node.id for node in nodes if isinstance(node, ast.Name) and node not in hint_nodes})


def _arguments(definition: Function | ast.ClassDef) -> list[str] | None:
    """The arguments of a function, or of a class without self, each with its default; None for a class without any."""
    if isinstance(definition, FUNCTIONS):
        return list(signatures.arguments(definition))
    makers = [one for one in definition.body if isinstance(one, FUNCTIONS) and one.name == "__init__"]
    return list(signatures.arguments(makers[-1])[1:]) if makers else None


def _unread(function: Function) -> list[str]:
    """The parameters that the body of a function never reads."""
    nodes = [node for statement in function.body for node in walk(statement)]
    read = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    given = [one.arg for one in _parameters(function)]
    return [name for name in given if name not in read and not name.startswith("_")]


def _span(statement: ast.stmt) -> list[int]:
    """The first line of a statement, with its decorators, and the last one."""
    first_line = min([statement.lineno, *(decorator.lineno for decorator in getattr(statement, "decorator_list", ()))])
    return [first_line, statement.end_lineno or statement.lineno]


def _is_method(outer: ast.AST, node: ast.AST) -> bool:
    """Whether it is a method of this class, which happens to be called like a function."""
    first = [one.arg for one in node.args.args[:1]] if isinstance(node, FUNCTIONS) else []
    return isinstance(outer, ast.ClassDef) and first == ["self"]


def _without_self(source: str, method: Function) -> str:
    """The sentence on a method that reads self and does not take it; "" for any other one."""
    arguments = {argument.arg for argument in (*method.args.posonlyargs, *method.args.args)}
    reads_self = any(isinstance(node, ast.Name) and node.id == "self" for node in walk(method))
    if not reads_self or "self" in arguments or method.args.vararg:
        return ""
    return f"{_placed(source, method)} reads self, but does not take it: self is its first parameter"


def _without_super(source: str, owner: ast.ClassDef, method: Function) -> str:
    """The slip in the __init__ of a torch.nn.Module: super().__init__() is missing or comes too late; "" otherwise."""
    if not any(ast.unparse(base).rpartition(".")[2] == "Module" for base in owner.bases):
        return ""
    nodes = walk(method)
    calls = [node.lineno for node in nodes if isinstance(node, ast.Attribute) and node.attr == "__init__"]
    stores = [node for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)]
    own_lines = [node.lineno for node in stores if isinstance(node.value, ast.Name) and node.value.id == "self"]
    init = f"{owner.name}.{_placed(source, method)}"
    if not calls:
        return f"{init} does not call super().__init__(): that is its first line"
    if own_lines and min(own_lines) < min(calls):
        return f"{init} sets something before it calls super().__init__(): call that first"
    return ""


def _written(definition: ast.AST) -> str:
    """A digest of a definition without docstrings and type hints, which are taken out of it."""
    for node in walk(definition):
        if isinstance(node, DEFINING):
            node.body = [part for part in node.body if not is_text(part)] or node.body
        if isinstance(node, FUNCTIONS):
            node.returns = None
        elif isinstance(node, ast.arg):
            node.annotation = None
    return hashlib.sha256(ast.dump(definition).encode()).hexdigest()


def _written_faults(function: Function, aliases: dict[str, str]) -> list[tuple[str, Any, str]]:
    found: list[tuple[str, Any, str]] = []
    nodes = [node for statement in function.body for node in walk(statement)]
    own = {*_local_names(nodes), *(one.arg for one in _parameters(function))}
    for node in nodes:
        if isinstance(node, ast.Attribute) and node.attr == "data":
            found.append(("cut", node, ".data"))
        if not isinstance(node, ast.Call):
            continue
        parts = dotted(node.func, aliases)
        if isinstance(node.func, ast.Attribute) and parts[-1].rstrip("_") in ("detach", *LEAVING):
            found.append(("cut", node, f".{parts[-1].rstrip('_')}()"))
        elif parts == ["torch", "tensor"]:
            found.append(("cut", node, "torch.tensor(…)"))
        is_of_torch = parts[0] in ("torch", "nn") and parts[-2:-1] != ["functional"]
        says_dim = any(keyword.arg in ("dim", "axis", None) for keyword in node.keywords)
        if function.name == "forward" and is_of_torch and parts[-1] in ("Dropout", "AlphaDropout"):
            found.append(("dropout in forward", node, parts[-1]))
        elif function.name == "forward" and is_of_torch and parts[-1] in WITH_PARAMETERS:
            if parts[-1] != "Parameter" or _makes_numbers(node):
                found.append(("layer in forward", node, parts[-1]))
        elif parts[0] == "torch" and parts[1:] in JOINS and len(node.args) == 1 and not says_dim:
            found.append(("join without dim", node, parts[1]))
        elif _chooses_device(node, own):
            found.append(("own device", node, parts[-1]))
    return found + [("in place", node, name) for node, name in _in_place(function, nodes)]


def _makes_numbers(parameter: ast.Call) -> bool:
    """Whether a parameter is made of new numbers, as in nn.Parameter(torch.randn(2, 3)), and not of a tensor."""
    calls = [node for argument in parameter.args for node in walk(argument) if isinstance(node, ast.Call)]
    return not parameter.args or any(dotted(call.func, {})[-1].removesuffix("_like") in MAKERS for call in calls)


def _chooses_device(call: ast.Call, own: set[str]) -> bool:
    """Whether it moves a tensor to a device of its own choice: x.cuda(), x.to("cpu"), x.to(DEVICE).

    own: the names that the function binds, as its parameters. One of them may hold the device of an input.
    """
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if name != "to" or not call.args:
        return name in ("cpu", "cuda") and not call.args
    where = call.args[0]
    return isinstance(where, ast.Constant) or (isinstance(where, ast.Name) and where.id not in own)


def _local_names(nodes: list[ast.AST]) -> list[str]:
    """The names that these nodes bind, each as often as it is bound."""
    return [node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]


def _parameters(function: Function) -> list[ast.arg]:
    return [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]


def _in_place(function: Function, nodes: list[ast.AST]) -> list[tuple[ast.AST, str]]:
    """The statements that write into a tensor argument, and which argument that is.

    It is a tensor by its annotation, or where it has none, by an attribute that is read of it. In a kernel, which has a
    decorator, it may be a pointer.
    """
    owners = {
        node.value.id
        for node in nodes
        if isinstance(node, ast.Attribute) and node.attr in TENSORS_OWN and isinstance(node.value, ast.Name)
    }
    owners = set() if function.decorator_list else owners
    tensors = {
        one.arg
        for one in _parameters(function)
        if (one.arg in owners if one.annotation is None else ast.unparse(one.annotation).endswith("Tensor"))
    }
    bound = Counter(_local_names(nodes))
    augmented = Counter(getattr(node.target, "id", "") for node in nodes if isinstance(node, ast.AugAssign))
    rebound = {name for name, count in bound.items() if count > augmented[name]}  # then it is a tensor of its own
    found: list[tuple[ast.AST, str]] = []
    for node in nodes:
        written: ast.AST | None = None
        if isinstance(node, ast.AugAssign):
            written = node.target
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            written = node.targets[0]
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            called = node.value.func
            name = called.attr if isinstance(called, ast.Attribute) else ""
            is_in_place = name.endswith("_") and not name.endswith("__") and name != "requires_grad_"
            written = called.value if is_in_place and isinstance(called, ast.Attribute) else None
        while isinstance(written, ast.Subscript):
            written = written.value
        if isinstance(written, ast.Name) and written.id in tensors - rebound:
            found.append((node, written.id))
    return found
