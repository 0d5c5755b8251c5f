"""Names in a source that count: those that an exercise forbids, and those of Python's and torch's machinery.

What decides about a forbidden function is a worker that has none (worker/without_ready_made.py); a name only says which
line to look at. Records of operations are made in the learner's own process, where code that reaches into the machinery
could change them: `reaches` finds what does so openly, and `notes` tells a person which lines to read.
"""

import ast
import re
from typing import TYPE_CHECKING, NamedTuple

from grader.records.limited import limited
from grader.records.sanitize import inert
from grader.records.source import SourceWords
from grader.records.syntax import FUNCTIONS, dotted, imported, place, tree_of, walk

if TYPE_CHECKING:
    from grader.catalog import Forbidden

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
MAKERS = re.compile(
    r"(?:builtins\.)?(?:exec|eval|compile|__import__|globals|locals)|operator\.(?:attrgetter|methodcaller)"
)
LIBRARIES = {"torch", "numpy", "scipy", "math", "jax", "sklearn", "einops"}
MAX_USES = 100  # that are reported for one source
MAX_LISTED, MAX_NAME = 3, 60  # places that one note lists, characters of a name
SENTENCES = (
    "The source reaches into Python's or torch's machinery, where a guard rail can be undone",
    "The source puts names or code together while it runs, where no guard rail reads them",
)
TO_LOOK_AT = "A person should look at it."  # how a note for the teacher ends


class Use(NamedTuple):
    """A name that counts, by its line."""

    line: int
    name: str


def forbidden_uses(source: str, rule: "Forbidden", function: str) -> list[Use]:
    """The uses of the rule's names in a function or class and in what it uses, by line, at most MAX_USES.

    A source that does not parse has none. Raises BadSubmission, as all functions here, if reading exceeds a limit.
    """
    return [Use(*use) for use in _named(source, sorted(SourceWords(source).uses(function)), list(rule.names))]


def reaches(source: str) -> tuple[Use, ...]:
    """The uses of machinery in a source, by line, at most MAX_USES."""
    return tuple(Use(*use) for use in _machinery(source)[0])


def notes(source: str) -> tuple[str, ...]:
    """The notes on a source for the teacher, one line each."""
    found = []
    for sentence, uses in zip(SENTENCES, _machinery(source)):
        listed = ", ".join(f"{place(source, line)}: {name}" for line, name in uses[:MAX_LISTED])
        more = f" and {len(uses) - MAX_LISTED} more" if len(uses) > MAX_LISTED else ""
        found += [inert(f"{sentence} ({listed}{more}). {TO_LOOK_AT}")] if uses else []
    return tuple(found)


@limited
def _named(source: str, definitions: list[str], names: list[str]) -> list[Use]:
    tree = tree_of(source)
    aliases = imported(walk(tree))
    roots = [one for one in tree.body if getattr(one, "name", "") in definitions]
    nodes = [node for root in roots for node in walk(root)]
    return sorted({Use(node.lineno, name) for node in nodes if (name := _name(node, aliases)) in names})[:MAX_USES]  # type: ignore[attr-defined]


def _name(node: ast.AST, aliases: dict[str, str]) -> str:
    """The name of the function or operator that a node uses; "" if it uses none."""
    if isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, ast.MatMult):
        return "@"
    parts = dotted(node, aliases) if isinstance(node, (ast.Attribute, ast.Name)) else [""]
    is_own = parts[0] in ("self", "cls") or (isinstance(node, ast.Name) and node.id not in aliases)
    if parts[0] == "numpy":
        return "numpy"
    return "" if is_own or not isinstance(getattr(node, "ctx", ast.Load()), ast.Load) else parts[-1]


@limited
def _machinery(source: str) -> tuple[list[Use], list[Use]]:
    """The uses of machinery, and of what makes names or code at run time."""
    nodes = walk(tree_of(source))
    aliases = imported(nodes)
    libraries = {name.partition(".")[0] for name in aliases.values()}
    reached, made = set[Use](), set[Use]()
    for node in nodes:
        names, is_import = [], isinstance(node, (ast.Import, ast.ImportFrom))
        if is_import:
            names = [f"{getattr(node, 'module', '') or ''}.{alias.name}".lstrip(".") for alias in node.names]  # type: ignore[attr-defined]
        elif isinstance(node, (ast.Attribute, ast.Name, *FUNCTIONS)):
            names = [node.name] if isinstance(node, FUNCTIONS) else [".".join(dotted(node, aliases))]
        for name in names:
            found = ATTRIBUTES.search(name)
            is_written = "." in name and isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del))
            is_harmless = HARMLESS.fullmatch(name) and (not is_written or name.startswith("torch.backends."))
            if not found and (is_import or name.partition(".")[0] in libraries) and not is_harmless:
                found = MACHINERY.match(name) or (re.match(".*", name) if is_written else None)
            reached |= {Use(node.lineno, found[0][:MAX_NAME])} if found else set()  # type: ignore[attr-defined]
        if isinstance(node, ast.Call) and (name := _maker(node, aliases)):
            made.add(Use(node.lineno, name))
    return sorted(reached)[:MAX_USES], sorted(made)[:MAX_USES]


def _maker(call: ast.Call, aliases: dict[str, str]) -> str:
    """The function with which a call makes names or code; "" if it makes none. getattr(layer, name) is honest."""
    name = ".".join(dotted(call.func, aliases))
    if MAKERS.fullmatch(name):
        return name
    given = call.args[1] if name == "getattr" and len(call.args) > 1 else None
    of_library = bool(call.args) and dotted(call.args[0], aliases)[0] in LIBRARIES
    is_made = isinstance(given, (ast.BinOp, ast.Call, ast.Subscript)) or (
        of_library and not isinstance(given, ast.Constant)
    )
    is_made |= name == "vars" and not call.args
    return name if name in ("getattr", "setattr", "vars") and is_made else ""
