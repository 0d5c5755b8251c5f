"""Names in a source that count: those that an exercise forbids, and those of Python's and torch's machinery.

A forbidden name only says which line to look at: what decides is a worker that has no such function
(worker/without_ready_made.py). Code that reaches into the machinery could change the records of operations, which are
made in its own process: `machinery_uses` finds what does so openly, and `note` says which lines a person should read.
A use is its line and its name. Each function raises BadSubmission where reading the source exceeds a limit.
"""

import ast
import re
from collections.abc import Sequence

from grader.catalog.patches import FUNCTION
from grader.records.limited import limited
from grader.records.sanitize import inert
from grader.records.syntax import dotted, imported, place, tree_of

# Modules and parts of modules with which code can change what else runs in its process, in a dotted name.
MACHINERY = re.compile(
    r"(?:.*\.)?_?(?:gc|ctypes|cffi|inspect|importlib|builtins|marshal|worker|thread|threading|concurrent|multiprocessing"
    r"|sys\.(?:modules|_getframe|_current_frames|settrace|setprofile|monitoring|meta_path|path_hooks)"
    r"|torch\.(?:overrides|library|ops\.load_library|utils\.cpp_extension|autograd\.graph)"
    r"|triton\.(?:runtime|knobs|compiler|backends))(?![^.])|(?:torch|triton)(?:\.\w+?)*?\._(?!_)\w+"
)
HARMLESS = re.compile(
    r"gc|inspect|gc\.(?:collect|disable|enable|freeze|isenabled|unfreeze)|importlib(?:\.metadata(?:\.(?:PackageNotFoundError|metadata|requires|version))?)?"
    r"|inspect\.(?:cleandoc|getdoc|getsource|isclass|isfunction|ismethod|signature)|torch\.backends\..*"
    r"|triton\.runtime(?:\.driver(?:\.active(?:\.get_active_torch_device)?)?)?"
)
# Attributes of frames, functions and classes through which any object leads to the machinery.
ATTRIBUTES = re.compile(
    r"(?<![^.])(?:(?:f|tb|gi|cr|ag)_(?:back|globals|locals|builtins|frame)|__(?:subclasses|globals|builtins|closure|code|import"
    r"|getattribute|loader|spec|signature|wrapped|torch_function|torch_dispatch)__|_VariableFunctions)$"
)
MAKERS = re.compile(r"exec|eval|compile|__import__|globals|locals|vars|operator\.(?:attrgetter|methodcaller)")
LIBRARIES = {"torch", "numpy", "scipy", "math", "jax", "sklearn", "einops"}
MAX_LISTED, MAX_NAME = 5, 60  # places that a note lists, characters of a name
NOTE = "The source reaches into Python's or torch's machinery, or makes names or code while it runs"


@limited
def forbidden_uses(source: str, names: Sequence[str], definitions: Sequence[str]) -> list[tuple[int, str]]:
    """The uses of these names in these functions and classes; none in a source that does not parse."""
    tree = tree_of(source)
    aliases = imported(ast.walk(tree))
    nodes = [node for one in tree.body if getattr(one, "name", "") in definitions for node in ast.walk(one)]
    return sorted({(node.lineno, name) for node in nodes if (name := _name(node, aliases)) in names})  # type: ignore[attr-defined]


@limited
def machinery_uses(source: str) -> list[tuple[int, str]]:
    """The uses of machinery in a source."""
    nodes = list(ast.walk(tree_of(source)))
    aliases = imported(nodes)
    libraries = {name.partition(".")[0] for name in aliases.values()}
    found = set()
    for node in nodes:
        if isinstance(node, (ast.Attribute, ast.Name)):
            names = [".".join(dotted(node, aliases))]
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names = [f"{getattr(node, 'module', '') or ''}.{alias.name}".lstrip(".") for alias in node.names]
        else:
            names = [node.name] if isinstance(node, FUNCTION) else []
        found |= {(node.lineno, what[:MAX_NAME]) for name in names if (what := _machinery(name, libraries, node))}  # type: ignore[attr-defined]
    return sorted(found)


@limited
def made_names(source: str) -> list[tuple[int, str]]:
    """The calls of a source that make names or code at run time, as honest code does too."""
    nodes = list(ast.walk(tree_of(source)))
    aliases = imported(nodes)
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    return sorted({(call.lineno, name) for call in calls if (name := _maker(call, aliases))})


def note(source: str) -> str:
    """The note on a source for the teacher; "" for none."""
    uses = sorted(machinery_uses(source) + made_names(source))
    listed = ", ".join(f"{place(source, line)}: {name}" for line, name in uses[:MAX_LISTED])
    more = f" and {len(uses) - MAX_LISTED} more" if len(uses) > MAX_LISTED else ""
    return inert(f"{NOTE} ({listed}{more}). A person should look at it.") if uses else ""


def _name(node: ast.AST, aliases: dict[str, str]) -> str:
    """The name of the function or operator that a node uses; "" if it uses none."""
    if isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, ast.MatMult):
        return "@"
    if not isinstance(node, (ast.Attribute, ast.Name)):
        return ""
    parts = dotted(node, aliases)
    is_own = parts[0] in ("self", "cls") or (isinstance(node, ast.Name) and node.id not in aliases)
    name = "numpy" if parts[0] == "numpy" else parts[-1]
    return "" if is_own or not isinstance(node.ctx, ast.Load) else name


def _machinery(name: str, libraries: set[str], node: ast.AST) -> str:
    """The part of a node's name that is machinery; "" for none. All of a library is, where it is written to."""
    if attribute := ATTRIBUTES.search(name):
        return attribute[0]
    is_changed = isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)) and "." in name
    is_harmless = HARMLESS.fullmatch(name) and (not is_changed or name.startswith("torch.backends."))
    if is_harmless or name.partition(".")[0] not in libraries:
        return ""
    found = MACHINERY.match(name)
    return found[0] if found else name * is_changed


def _maker(call: ast.Call, aliases: dict[str, str]) -> str:
    """The function with which a call makes names or code; "" if it makes none. getattr(layer, name) is honest."""
    name = ".".join(dotted(call.func, aliases)).removeprefix("builtins.")
    if MAKERS.fullmatch(name):
        return name
    if name not in ("getattr", "setattr") or not call.args:
        return ""
    given = call.args[1] if name == "getattr" and len(call.args) > 1 else None
    of_library = dotted(call.args[0], aliases)[0] in LIBRARIES and not isinstance(given, ast.Constant)
    return name if of_library or isinstance(given, (ast.BinOp, ast.Call, ast.Subscript)) else ""
