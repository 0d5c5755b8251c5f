"""Finds names in a node of a syntax tree that are introspection, and those that make code or names at run time."""

import ast

from grader.records.syntax import GETTING, dotted

# Modules and parts of modules with which code can change what else runs in its process.
INTROSPECTION_MODULES = {
    "gc", "ctypes", "_ctypes", "cffi", "inspect", "importlib", "builtins", "marshal", "worker", "sys.modules",
    "sys._getframe", "sys._current_frames", "sys.settrace", "sys.setprofile", "sys.monitoring", "sys.meta_path",
    "sys.path_hooks", "torch.overrides", "torch.library", "torch.ops.load_library", "torch.utils.cpp_extension",
    "torch.autograd.graph", "threading", "_thread", "concurrent", "multiprocessing",
}  # fmt: skip
# Attributes of frames, functions and classes through which any object leads to these modules.
INTROSPECTION_ATTRIBUTES = {
    "f_back", "f_globals", "f_locals", "f_builtins", "tb_frame", "gi_frame", "cr_frame", "ag_frame",
    "__subclasses__", "__globals__", "__builtins__", "__closure__", "__code__", "__getattribute__", "__loader__",
    "__spec__", "__import__", "__signature__", "__wrapped__", "__torch_function__", "__torch_dispatch__",
    "_decomp", "_refs", "_prims", "_VariableFunctions",
}  # fmt: skip
# The part of importlib that only reads which packages are installed.
PACKAGE_METADATA = {
    f"importlib.metadata{name}" for name in ("", ".version", ".metadata", ".requires", ".PackageNotFoundError")
}
SETTINGS_MODULES = ("torch.backends",)  # settings of the whole process that a file may change
# Functions that make code or names at run time.
CODE_MAKERS = {"exec", "eval", "compile", "__import__", "globals"}
NAME_GETTERS = {"operator.attrgetter", "operator.methodcaller"}
LOAD = ast.Load()
MAX_PARTS = 6  # parts of a dotted name that are examined


def reached_names(node: ast.AST, aliases: dict[str, str]) -> list[str]:
    """The names of introspection that one node uses. aliases: the imported names and what they stand for."""
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        names = [f"{node.module or ''}.{alias.name}".strip(".") for alias in node.names]
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return [node.name] if node.name in INTROSPECTION_ATTRIBUTES else []
    elif isinstance(node, ast.Name):
        return [node.id] if node.id in INTROSPECTION_ATTRIBUTES else []
    elif isinstance(node, (ast.Attribute, ast.Call)):
        parts = dotted(node, aliases)
        if len(parts) < 2 or (len(parts) > 2 and ".".join(parts) in PACKAGE_METADATA):
            return []
        attributes = [part for part in parts if part in INTROSPECTION_ATTRIBUTES]
        if attributes:
            return attributes
        dotted_name = ".".join(parts)
        is_written = not isinstance(getattr(node, "ctx", LOAD), ast.Load)
        is_library = parts[0] in _libraries(aliases) and not dotted_name.startswith(SETTINGS_MODULES)
        # An assignment such as torch.Tensor.detach = … changes the library for all code in the process.
        changed = ".".join(parts[:MAX_PARTS]) if is_written and is_library else ""
        name = _prefix(parts) or _through(parts, aliases) or changed
        return [name] if name else []
    else:
        return []
    names = [name for name in names if name not in PACKAGE_METADATA]
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
    if name not in ("getattr", "setattr", "vars") or not node.args:
        return []
    attribute = node.args[1] if len(node.args) > 1 else None
    of_library = dotted(node.args[0], aliases)[0] in _libraries(aliases)
    if name != "getattr":
        return [name] * of_library
    # getattr(layer, name) and getattr(self, f"W_{name}") occur in honest code.
    put_together = isinstance(attribute, (ast.BinOp, ast.Call, ast.Subscript))
    return ["getattr"] * (put_together or (of_library and not isinstance(attribute, ast.Constant)))


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
