"""Finds source that uses the introspection of Python or torch, or computes names that a reader does not see.

The watch on ready-made functions (worker/op_watch.py) runs in the learner's own process, where such code can switch it
off. The grader cannot see that from outside, so the notes tell a person which lines to read.
"""

import ast
import functools
from collections.abc import Callable
from dataclasses import dataclass

from grader.records.forbidden import MAX_USES, Use
from grader.records.limited import limited
from grader.records.places import place
from grader.records.sanitize import inert
from grader.records.syntax import GETTING, dotted, followed, imported, parsed

# Modules, and parts of them, with which code can change what else runs in its process.
REACHES = {
    "gc", "ctypes", "_ctypes", "cffi", "inspect", "importlib", "builtins", "marshal", "worker", "sys.modules",
    "sys._getframe", "sys._current_frames", "sys.settrace", "sys.setprofile", "sys.monitoring", "sys.meta_path",
    "sys.path_hooks", "torch.overrides", "torch.library", "torch.ops.load_library", "torch.utils.cpp_extension",
    "torch.autograd.graph", "threading", "_thread", "concurrent", "multiprocessing",
}  # fmt: skip
# Attributes of frames, functions and classes through which any object leads to these modules.
ROADS = {
    "f_back", "f_globals", "f_locals", "f_builtins", "tb_frame", "gi_frame", "cr_frame", "ag_frame",
    "__subclasses__", "__globals__", "__builtins__", "__closure__", "__code__", "__getattribute__", "__loader__",
    "__spec__", "__import__", "__signature__", "__wrapped__", "__torch_function__", "__torch_dispatch__",
    "_decomp", "_refs", "_prims", "_VariableFunctions",
}  # fmt: skip
# Of importlib, what only tells which packages are installed.
METADATA = {f"importlib.metadata{name}" for name in ("", ".version", ".metadata", ".requires", ".PackageNotFoundError")}
SETTINGS = ("torch.backends",)  # what a file may set for the whole process
# Functions that make code or names at run time.
MAKERS = {"exec", "eval", "compile", "__import__", "globals"}
GETTERS = {"operator.attrgetter", "operator.methodcaller"}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
BINDING = (*FUNCTIONS, ast.Assign, ast.AnnAssign, ast.NamedExpr, ast.For, ast.AsyncFor, ast.comprehension, ast.withitem)
RELEVANT = (ast.Import, ast.ImportFrom, ast.Name, ast.Attribute, ast.Call)
LOADED = ast.Load()
MAX_PARTS = 6  # parts of a dotted name that are examined
MAX_NAMED = 3  # places that one note names
MAX_NAME = 60  # characters of a name


def reaches(source: str) -> tuple[Use, ...]:
    """Where the source uses introspection, by line: the first MAX_USES. A source that does not parse has no uses.

    Raises BadSubmission, as all functions here, where reading the source exceeds a limit.
    """
    return tuple(Use(name, line, "") for name, line in _reaches(source))


def hides(source: str) -> tuple[Use, ...]:
    """Where the source makes code or the name of an attribute at run time, so that no reader sees it."""
    return tuple(Use(name, line, "") for name, line in _hides(source))


def notes(source: str) -> tuple[str, ...]:
    """What a teacher should know about the source, one line each."""
    return tuple(_notes(source))


@limited
def aliases(source: str) -> dict[str, str]:
    """The names that the source imports anywhere, and what they stand for."""
    return _inspected(source).aliases


@limited
def _reaches(source: str) -> list[tuple[str, int]]:
    return _uses(source, _reached)[:MAX_USES]


@limited
def _hides(source: str) -> list[tuple[str, int]]:
    return _uses(source, _hidden)[:MAX_USES]


@limited
def _notes(source: str) -> list[str]:
    notes = []
    for test, what in (
        (_reached, "The source reaches into Python's or torch's machinery, where a guard rail can be undone"),
        (_hidden, "The source puts names or code together while it runs, where no guard rail reads them"),
    ):
        uses = _uses(source, test)
        told = ", ".join(f"{place(source, line)}: {name}" for name, line in uses[:MAX_NAMED])
        more = f" and {len(uses) - MAX_NAMED} more" if len(uses) > MAX_NAMED else ""
        if uses:
            notes.append(inert(f"{what} ({told}{more}). A person should look at it."))
    return notes


def _uses(source: str, test: Callable[[ast.AST, dict[str, str]], list[str]]) -> list[tuple[str, int]]:
    """The names that `test(node, aliases)` returns for the nodes of the source, each with its line, by line."""
    inspected = _inspected(source)
    uses = {(node.lineno, name[:MAX_NAME]) for node in inspected.nodes for name in test(node, inspected.aliases)}
    return [(name, line) for line, name in sorted(uses)]


@dataclass(frozen=True)
class _Inspected:
    """The relevant nodes of a source by line, of a chain a.b.c only the whole; and what imported names stand for."""

    nodes: tuple[ast.stmt | ast.expr, ...]
    aliases: dict[str, str]


@functools.lru_cache(maxsize=1)
def _inspected(source: str) -> _Inspected:
    tree = parsed(source)
    if tree is None:
        return _Inspected((), {})
    nodes: list[ast.stmt | ast.expr] = []
    binding: list[ast.AST] = []
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, RELEVANT):
            nodes.append(node)
        elif isinstance(node, BINDING):
            binding.append(node)
            if isinstance(node, FUNCTIONS):
                nodes.append(node)
        while isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute):
            node = node.value
        for field in node._fields:  # as ast.iter_child_nodes, in a third of its time
            value = getattr(node, field, None)
            if isinstance(value, ast.AST):
                waiting.append(value)
            elif isinstance(value, list):
                waiting += [item for item in value if isinstance(item, ast.AST)]
    nodes.sort(key=lambda node: node.lineno)
    return _Inspected(tuple(nodes), followed(binding, imported(nodes)))


def _reached(node: ast.AST, aliases: dict[str, str]) -> list[str]:
    """The introspection that one node uses, as names."""
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        names = [f"{node.module or ''}.{alias.name}".strip(".") for alias in node.names]
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return [node.name] if node.name in ROADS else []
    elif isinstance(node, ast.Name):
        return [node.id] if node.id in ROADS else []
    elif isinstance(node, (ast.Attribute, ast.Call)):
        parts = dotted(node, aliases)
        if len(parts) < 2 or (len(parts) > 2 and ".".join(parts) in METADATA):
            return []
        roads = [part for part in parts if part in ROADS]
        # torch.Tensor.detach = …: everybody's, not the file's own
        replaced = not isinstance(getattr(node, "ctx", LOADED), ast.Load) and parts[0] in _libraries(aliases)
        replaced = replaced and not ".".join(parts).startswith(SETTINGS)
        return roads or [
            name
            for name in [_prefix(parts) or _through(parts, aliases) or ".".join(parts[:MAX_PARTS]) * replaced]
            if name
        ]
    else:
        return []
    names = [name for name in names if name not in METADATA]
    return [part for part in (_prefix(name.split(".")) or _inside(name.split(".")) for name in names) if part]


def _prefix(parts: list[str]) -> str:
    """The shortest prefix of a dotted name that is introspection, or ""."""
    for end in range(1, min(len(parts), MAX_PARTS) + 1):
        start, last = ".".join(parts[:end]), parts[end - 1]
        if start in REACHES or (parts[0] == "torch" and last.startswith("_") and not last.startswith("__")):
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


def _hidden(node: ast.AST, aliases: dict[str, str]) -> list[str]:
    """The functions with which one node makes code or names at run time."""
    if isinstance(node, ast.Attribute):
        parts = dotted(node, aliases)
        return ["__dict__"] if "__dict__" in parts and parts[0] in _libraries(aliases) else []
    if not isinstance(node, ast.Call):
        return []
    name = ".".join(dotted(node.func, aliases)[:MAX_PARTS]).removeprefix("builtins.")
    if name in GETTERS or (isinstance(node.func, ast.Name) and name in MAKERS):
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


def _libraries(aliases: dict[str, str]) -> set[str]:
    return {name.partition(".")[0] for name in aliases.values()} - set(GETTING)
