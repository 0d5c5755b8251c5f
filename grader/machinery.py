"""Source that reaches into Python's or torch's machinery, or hides names from the reader: found in the syntax tree.

The watch on ready-made functions (worker/bans.py) lives in the learner's own process, where such code
can switch it off. The grader cannot see that from outside, so a person is told where to look.
"""

import ast
import functools

from grader.report.inert import inert
from grader.syntax import Use, imported, parsed

# Modules and their parts with which code can change what runs beside it.
REACHES = {
    "gc", "ctypes", "_ctypes", "cffi", "inspect", "importlib", "builtins", "marshal", "worker", "sys.modules",
    "sys._getframe", "sys._current_frames", "sys.settrace", "sys.setprofile", "sys.monitoring", "sys.meta_path",
    "sys.path_hooks", "torch.overrides", "torch.library", "torch.ops.load_library", "torch.utils.cpp_extension",
}  # fmt: skip
# Attributes of frames, functions and classes that lead there from any object.
ROADS = {
    "f_back", "f_globals", "f_locals", "f_builtins", "tb_frame", "gi_frame", "cr_frame", "ag_frame",
    "__subclasses__", "__globals__", "__builtins__", "__closure__", "__code__", "__getattribute__", "__loader__",
    "__spec__", "__import__",
}  # fmt: skip
SETTINGS = ("torch.backends",)  # what a file may set for the whole process
# Functions that make code or names while the file runs.
MAKERS = {"exec", "eval", "compile", "__import__", "globals"}
GETTERS = {"operator.attrgetter", "operator.methodcaller"}
TELLING = (ast.Import, ast.ImportFrom, ast.Name, ast.Attribute, ast.Call)
DEEPEST = 6  # parts of a dotted name that are looked at
MAX_NAMED = 3  # places that one note names
MAX_NAME = 60  # characters of a name


def reaches(source: str) -> tuple[Use, ...]:
    """Where the source reaches into the machinery, by line. A source that does not parse does nowhere."""
    return _uses(source, _reached)


def hides(source: str) -> tuple[Use, ...]:
    """Where the source makes code or the name of an attribute while it runs, so that no reader sees it."""
    return _uses(source, _hidden)


def notes(source: str) -> tuple[str, ...]:
    """What a teacher should know of the source, each in one line."""
    found = []
    for uses, what in (
        (
            reaches(source),
            "The source reaches into Python's or torch's machinery, where a guard rail can be undone",
        ),
        (hides(source), "The source puts names or code together while it runs, where no guard rail reads them"),
    ):
        places = ", ".join(f"line {use.line}: {use.name}" for use in uses[:MAX_NAMED])
        more = f" and {len(uses) - MAX_NAMED} more" if len(uses) > MAX_NAMED else ""
        if uses:
            found.append(inert(f"{what} ({places}{more}). A person should look at it."))
    return tuple(found)


def aliases(source: str) -> dict[str, str]:
    """What the names stand for that the source imports, anywhere."""
    return _looked_at(source)[1]


def _uses(source: str, test) -> tuple[Use, ...]:
    nodes, aliases = _looked_at(source)
    found = {(node.lineno, name[:MAX_NAME]) for node in nodes for name in test(node, aliases)}
    return tuple(Use(name, line, "") for line, name in sorted(found))


@functools.lru_cache(maxsize=2)
def _looked_at(source: str) -> tuple[tuple[ast.AST, ...], dict[str, str]]:
    """The nodes that tell something, of a chain a.b.c the whole alone; and what imported names stand for."""
    tree = parsed(source)
    if tree is None:
        return (), {}
    found, waiting = [], [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, TELLING):
            found.append(node)
        while isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute):
            node = node.value
        for field in node._fields:  # as ast.iter_child_nodes, in a third of the time: a class has thousands of files
            value = getattr(node, field, None)
            if isinstance(value, ast.AST):
                waiting.append(value)
            elif isinstance(value, list):
                waiting += [item for item in value if isinstance(item, ast.AST)]
    found.sort(key=lambda node: node.lineno)
    return tuple(found), imported(found)


def _reached(node: ast.AST, aliases: dict[str, str]) -> list[str]:
    """The parts of the machinery that one node names."""
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        names = [f"{node.module or ''}.{alias.name}".strip(".") for alias in node.names]
    elif isinstance(node, ast.Name):
        return [node.id] if node.id in ROADS else []
    elif isinstance(node, ast.Attribute):
        parts = _parts(node, aliases)
        roads = [part for part in parts if part in ROADS]
        # torch.Tensor.detach = …: everybody's, not the file's own
        replaced = not isinstance(node.ctx, ast.Load) and parts[0] in _libraries(aliases)
        replaced = replaced and not ".".join(parts).startswith(SETTINGS)
        return roads or [name for name in [_machinery(parts) or ".".join(parts[:DEEPEST]) * replaced] if name]
    else:
        return []
    return [part for part in (_machinery(name.split(".")) for name in names) if part]


def _machinery(parts: list[str]) -> str:
    """The shortest beginning of a dotted name that is part of the machinery, or ""."""
    for end in range(1, min(len(parts), DEEPEST) + 1):
        start, last = ".".join(parts[:end]), parts[end - 1]
        if start in REACHES or (parts[0] == "torch" and last.startswith("_") and not last.startswith("__")):
            return start
    return ""


def _hidden(node: ast.AST, aliases: dict[str, str]) -> list[str]:
    if not isinstance(node, ast.Call):
        return []
    name = ".".join(_parts(node.func, aliases)[:DEEPEST])
    if name in GETTERS or (isinstance(node.func, ast.Name) and name in MAKERS):
        return [name]
    if name not in ("getattr", "setattr", "vars") or not node.args:
        return []
    asked = node.args[1] if len(node.args) > 1 else None
    of_library = _parts(node.args[0], aliases)[0] in _libraries(aliases)
    if name != "getattr":
        return [name] * of_library
    # getattr(layer, name) and getattr(self, f"W_{name}") are honest.
    put_together = isinstance(asked, (ast.BinOp, ast.Call, ast.Subscript))
    return ["getattr"] * (put_together or (of_library and not isinstance(asked, ast.Constant)))


def _libraries(aliases: dict[str, str]) -> set[str]:
    return {name.partition(".")[0] for name in aliases.values()}


def _parts(node: ast.AST, aliases: dict[str, str]) -> list[str]:
    """["torch", "nn", "functional", "softmax"] for F.softmax; a chain on anything else begins with ""."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    first = aliases.get(node.id, node.id) if isinstance(node, ast.Name) else ""
    return [*first.split("."), *reversed(parts)]
