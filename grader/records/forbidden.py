"""Finds what an exercise forbids in a source: names that are called, however they are reached.

Only code that the restricted functions reach is examined. A name that the file itself defines is the learner's own and
allowed. The worker's watch on dispatched operations (worker/op_watch.py) finds uses that no name shows.

The record of operations (worker/op_record.py) is made in the learner's own process, where such code can change it. The
grader cannot see that from outside, so the notes tell a person which lines to read.
"""

import ast
import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.records.limited import limited
from grader.records.sanitize import inert
from grader.records.syntax import (
    FUNCTIONS,
    GETTING,
    constant_getattr,
    dotted,
    followed,
    imported,
    parse,
    place,
    statements,
    walk,
)

if TYPE_CHECKING:
    from grader.catalog import Forbidden

BINDING = (ast.Assign, ast.AnnAssign, ast.For, ast.With, ast.Expr, ast.If, ast.While)
BUILTIN_ANNOTATIONS = {"torch.Tensor", "int", "float", "bool", "str"}  # they exist unless a file rebinds them
# Modules and parts of modules with which code can change what else runs in its process.
INTROSPECTION_MODULES = {
    "gc", "ctypes", "_ctypes", "cffi", "inspect", "importlib", "builtins", "marshal", "worker", "sys.modules",
    "sys._getframe", "sys._current_frames", "sys.settrace", "sys.setprofile", "sys.monitoring", "sys.meta_path",
    "sys.path_hooks", "torch.overrides", "torch.library", "torch.ops.load_library", "torch.utils.cpp_extension",
    "torch.autograd.graph", "threading", "_thread", "concurrent", "multiprocessing", "triton.runtime", "triton.knobs",
    "triton.compiler", "triton.backends", "triton._C",
}  # fmt: skip
# Attributes of frames, functions and classes through which any object leads to these modules.
INTROSPECTION_ATTRIBUTES = {
    "f_back", "f_globals", "f_locals", "f_builtins", "tb_frame", "gi_frame", "cr_frame", "ag_frame",
    "__subclasses__", "__globals__", "__builtins__", "__closure__", "__code__", "__getattribute__", "__loader__",
    "__spec__", "__import__", "__signature__", "__wrapped__", "__torch_function__", "__torch_dispatch__",
    "_decomp", "_refs", "_prims", "_VariableFunctions",
}  # fmt: skip
# Of these, the ones that a learner may well give an object of their own, as `self._refs` for a count of references.
HONEST_ATTRIBUTES = {"_decomp", "_refs", "_prims"}
# Of these modules, the functions that give no access to other code. Only they may be used, and by their full name.
HARMLESS = {
    "gc": ("collect", "disable", "enable", "freeze", "isenabled", "unfreeze"),
    "importlib.metadata": ("PackageNotFoundError", "metadata", "requires", "version"),
    "inspect": ("cleandoc", "getdoc", "getsource", "isclass", "isfunction", "ismethod", "signature"),
    "triton.runtime.driver.active": ("get_active_torch_device",),
}
HARMLESS_NAMES = {*HARMLESS, *(f"{module}.{name}" for module, names in HARMLESS.items() for name in names)}
ORDINARY_NAMES = {"gc"}  # modules whose names people give to tensors too: they count where they are imported
SETTINGS_MODULES = ("torch.backends",)  # settings of the whole process that a file may change
# Functions that make code or names at run time.
CODE_MAKERS = {"exec", "eval", "compile", "__import__", "globals", "locals"}
NAME_GETTERS = {"operator.attrgetter", "operator.methodcaller"}
LOAD = ast.Load()
MAX_PARTS = 6  # parts of a dotted name that are examined
MAX_USES = 100  # the most uses that are reported for one source
LIBRARIES = {"torch", "numpy", "scipy", "math", "jax", "sklearn", "einops"}
CALLABLES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
BINDERS = (*CALLABLES, ast.Assign, ast.AnnAssign, ast.NamedExpr, ast.For, ast.AsyncFor, ast.comprehension, ast.withitem)
RELEVANT = (ast.Import, ast.ImportFrom, ast.Name, ast.Attribute, ast.Call)
TO_LOOK_AT = "A person should look at it."  # how a note for the teacher ends
MAX_LISTED = 3  # places that one note lists
MAX_NAME = 60  # characters of a name


def definitions_of(tree: ast.Module, nodes: list[ast.AST]) -> dict[str, ast.AST]:
    """Functions, classes and assignments of the module by name; methods by their bare name.

    nodes: all nodes of the tree, as `walk` gives them.
    """
    definitions: dict[str, ast.AST] = _again(tree, nodes)
    for node in nodes:
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            definitions.setdefault(node.name, node)
    for statement in statements(tree, closed=(*FUNCTIONS, ast.ClassDef)):  # those that run when the file is loaded
        if isinstance(statement, BINDING):
            for name in walk(statement):
                if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store):
                    definitions.setdefault(name.id, statement)
    return definitions


def reached_names(node: ast.AST, aliases: dict[str, str]) -> list[str]:
    """The names of introspection that one node uses. aliases: the imported names and what they stand for."""
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        names = [f"{node.module or ''}.{alias.name}".strip(".") for alias in node.names]
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return [node.name] if node.name in INTROSPECTION_ATTRIBUTES else []
    elif isinstance(node, ast.Name):
        is_handed_on = isinstance(node.ctx, ast.Load) and aliases.get(node.id) in HARMLESS
        return [node.id] if is_handed_on or node.id in INTROSPECTION_ATTRIBUTES else []
    elif isinstance(node, (ast.Attribute, ast.Call)):
        parts = dotted(node, aliases)
        is_ordinary = parts[0] in ORDINARY_NAMES and parts[0] not in _libraries(aliases)
        dotted_name, is_written = ".".join(parts), not isinstance(getattr(node, "ctx", LOAD), ast.Load)
        is_harmless = dotted_name in HARMLESS_NAMES and dotted_name not in HARMLESS and not is_written
        if len(parts) < 2 or is_harmless:
            return []
        attributes = [part for part in parts if part in INTROSPECTION_ATTRIBUTES]
        if attributes:
            return attributes
        is_library = parts[0] in _libraries(aliases) and not dotted_name.startswith(SETTINGS_MODULES)
        # An assignment such as torch.Tensor.detach = … changes the library for all code in the process.
        changed = ".".join(parts[:MAX_PARTS]) if is_written and is_library else ""
        name = (not is_ordinary and _prefix(parts)) or _through(parts, aliases) or changed
        return [name] if name else []
    else:
        return []
    names = [name for name in names if name not in HARMLESS_NAMES]
    return [part for part in (_prefix(name.split(".")) or _inside(name.split(".")) for name in names) if part]


def hidden_names(node: ast.AST, aliases: dict[str, str]) -> list[str]:
    """The functions with which one node makes code or names at run time. aliases: as for reached_names."""
    if isinstance(node, ast.Attribute):
        parts = dotted(node, aliases)
        return ["__dict__"] if "__dict__" in parts and parts[0] in _libraries(aliases) else []
    if not isinstance(node, ast.Call):
        return []
    name = ".".join(dotted(node.func, aliases)[:MAX_PARTS]).removeprefix("builtins.")
    if name in NAME_GETTERS or (isinstance(node.func, ast.Name) and name in CODE_MAKERS):
        return [name]
    if name == "vars" and not node.args:
        return [name]
    if name not in ("getattr", "setattr", "vars") or not node.args:
        return []
    attribute = node.args[1] if len(node.args) > 1 else None
    of_library = dotted(node.args[0], aliases)[0] in _libraries(aliases)
    if name != "getattr":
        return [name] * of_library
    # getattr(layer, name) and getattr(self, f"W_{name}") occur in honest code.
    put_together = isinstance(attribute, (ast.BinOp, ast.Call, ast.Subscript))
    return ["getattr"] * (put_together or (of_library and not isinstance(attribute, ast.Constant)))


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
    tree = parse(source)
    if tree is None:
        return None
    nodes = walk(tree)
    definitions, aliases = definitions_of(tree, nodes), followed(nodes, imported(nodes))
    return _Tables(definitions, aliases, _own_attributes(nodes, aliases, definitions))


def reaches(source: str) -> tuple[Use, ...]:
    """The uses of introspection in a source, by line: the first MAX_USES. A source that does not parse has none.

    Raises BadSubmission, as all functions here, where reading the source exceeds a limit.
    """
    return tuple(Use(name, line, "") for name, line in _reaches(source))


def notes(source: str) -> tuple[str, ...]:
    """The notes on a source for the teacher, one line each."""
    return tuple(_notes(source))


@limited
def aliases(source: str) -> dict[str, str]:
    """The names that the source imports anywhere, and what they stand for."""
    return _inspect(source).aliases


@limited
def _reaches(source: str) -> list[tuple[str, int]]:
    return _uses(source, reached_names)[:MAX_USES]


@limited
def _notes(source: str) -> list[str]:
    own_attributes = {
        node.attr
        for node in _inspect(source).nodes
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    }

    def beyond_own(node: ast.AST, aliases: dict[str, str]) -> list[str]:
        parts = dotted(node, aliases) if isinstance(node, (ast.Attribute, ast.Call)) else []
        own = HONEST_ATTRIBUTES & own_attributes & set(parts[1:2]) if parts[:1] == ["self"] else set()
        return [name for name in reached_names(node, aliases) if name not in own]

    notes = []
    for test, sentence in (
        (beyond_own, "The source reaches into Python's or torch's machinery, where a guard rail can be undone"),
        (hidden_names, "The source puts names or code together while it runs, where no guard rail reads them"),
    ):
        uses = _uses(source, test)
        listed = ", ".join(f"{place(source, line)}: {name}" for name, line in uses[:MAX_LISTED])
        addition = f" and {len(uses) - MAX_LISTED} more" if len(uses) > MAX_LISTED else ""
        if uses:
            notes.append(inert(f"{sentence} ({listed}{addition}). {TO_LOOK_AT}"))
    return notes


@dataclass(frozen=True)
class _Inspected:
    """The relevant nodes of a source by line, and what imported names stand for.

    Of a chain a.b.c only the whole is a node, so that a name among the nodes is used as a value.
    """

    nodes: tuple[ast.stmt | ast.expr, ...]
    aliases: dict[str, str]


@functools.lru_cache(maxsize=1)
def _inspect(source: str) -> _Inspected:
    tree = parse(source)
    if tree is None:
        return _Inspected((), {})
    nodes: list[ast.stmt | ast.expr] = []
    binding: list[ast.AST] = []
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, RELEVANT):
            nodes.append(node)
        elif isinstance(node, BINDERS):
            binding.append(node)
            if isinstance(node, CALLABLES):
                nodes.append(node)
        while isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute):
            node = node.value
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            continue
        for field in node._fields:  # as ast.iter_child_nodes does, in a third of its time
            value = getattr(node, field, None)
            if isinstance(value, ast.AST):
                waiting.append(value)
            elif isinstance(value, list):
                waiting += [item for item in value if isinstance(item, ast.AST)]
    nodes.sort(key=lambda node: node.lineno)
    return _Inspected(tuple(nodes), followed(binding, imported(nodes)))


def _again(tree: ast.Module, nodes: list[ast.AST]) -> dict[str, ast.AST]:
    """The names that the module defines more than once, each with the definitions that may be the last one to run."""
    statements_by_name: dict[str, list[ast.stmt]] = {}
    for statement in tree.body:
        if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
            statements_by_name.setdefault(statement.name, []).append(statement)
    several = {name: defined for name, defined in statements_by_name.items() if len(defined) > 1}
    if not several:
        return {}
    rebound = _rebound(nodes)
    builtins = {name for name in BUILTIN_ANNOTATIONS if name.partition(".")[0] not in rebound}
    for defined in several.values():
        sure = [place for place, statement in enumerate(defined) if _surely_runs(statement, builtins)]
        del defined[: sure[-1] if sure else 0]
    return {name: ast.Module(body=defined, type_ignores=[]) for name, defined in several.items()}


def _rebound(nodes: list[ast.AST]) -> set[str]:
    """The names that the source binds anywhere to something else than the module of that name."""
    bound = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    bound |= {node.name for node in nodes if isinstance(node, (*FUNCTIONS, ast.ClassDef))}
    return bound | {name for name, module in imported(nodes).items() if name != module}


def _surely_runs(statement: ast.stmt, builtins: set[str]) -> bool:
    """Whether this definition cannot fail, so that it replaces the earlier ones.

    builtins: the annotations that certainly exist.
    """
    if not isinstance(statement, FUNCTIONS) or statement.decorator_list:
        return False
    annotations = [
        statement.returns,
        *(argument.annotation for argument in walk(statement.args) if isinstance(argument, ast.arg)),
    ]
    defaults = [*statement.args.defaults, *statement.args.kw_defaults]
    has_constant_defaults = all(default is None or isinstance(default, ast.Constant) for default in defaults)
    return has_constant_defaults and all(
        annotation is None or isinstance(annotation, ast.Constant) or ast.unparse(annotation) in builtins
        for annotation in annotations
    )


def _prefix(parts: list[str]) -> str:
    """The shortest prefix of a dotted name that is introspection, or ""."""
    for end in range(1, min(len(parts), MAX_PARTS) + 1):
        start, last = ".".join(parts[:end]), parts[end - 1]
        if start in INTROSPECTION_MODULES or (
            parts[0] == "torch" and last.startswith("_") and not last.startswith("__")
        ):
            return start
    return ""


def _through(parts: list[str], aliases: dict[str, str]) -> str:
    """The introspection that a library's own imports lead to: typing.sys.modules, collections._sys.modules."""
    return _inside(parts) if parts[0] in _libraries(aliases) else ""


def _inside(parts: list[str]) -> str:
    """The introspection that a dotted name leads to behind its first part, or ""."""
    for start in range(1, min(len(parts), MAX_PARTS)):
        prefix = _prefix([parts[start].strip("_"), *parts[start + 1 :]])
        if prefix and prefix != "worker":
            return ".".join(parts[: start + prefix.count(".") + 1])
    return ""


def _libraries(aliases: dict[str, str]) -> set[str]:
    """The top-level names of the libraries that a source imports."""
    return {name.partition(".")[0] for name in aliases.values()} - set(GETTING)


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
    nodes = [node for node in walk(root, seen) if node not in seen]
    seen.update(nodes)
    return nodes


def _bound(function: ast.AST) -> set[str]:
    """The names that a function binds itself (arguments, assignments), which hide the module's names."""
    if not isinstance(function, FUNCTIONS):
        return set()
    nodes = walk(function)
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


def _uses(source: str, test: Callable[[ast.AST, dict[str, str]], list[str]]) -> list[tuple[str, int]]:
    """The names that `test(node, aliases)` returns for the nodes of the source, each with its line, by line."""
    inspected = _inspect(source)
    uses = {(node.lineno, name[:MAX_NAME]) for node in inspected.nodes for name in test(node, inspected.aliases)}
    return [(name, line) for line, name in sorted(uses)]
