"""What an exercise asks for: the functions and classes that its stub leaves to the learner, with their arguments."""

import ast
import functools
from collections.abc import Collection, Mapping

from grader.catalog import exercise, patches, stubs
from grader.catalog.patches import FUNCTION

Arguments = tuple[str, ...]  # ("d_in", "d_out", "qkv_bias=False"), without self
HALF = 0.5


@functools.lru_cache(64)
def names(folder: str) -> Mapping[str, Arguments]:
    """The name of each function and class that the learner writes, with the arguments of a call.

    Nothing where the stub is not there.
    """
    return of_stub(stubs.original(folder) or "")


@functools.lru_cache(256)
def of_call(folder: str, function: str) -> Arguments:
    """The arguments of a function, or of a method such as "Layer.__call__", as the stub has them; () if unknown."""
    owner, _, method = function.partition(".")
    if not method:
        return names(folder).get(function, ())
    stub = stubs.original(folder) or ""
    found = patches.definitions(stub).get(f"{owner}.{method.replace('__call__', 'forward')}")
    return arguments(found)[1:] if found else ()


def is_asked(name: str) -> bool:
    """Whether some exercise asks for this name."""
    return any(name in names(one.folder) for one in exercise.exercises())


def exercises_of(defined: Collection[str]) -> list[str]:
    """The numbers of the exercises of whose names or classes a file defines at least half, the most first."""
    shares = {one.folder[:2]: _share(names(one.folder), defined) for one in exercise.exercises()}
    return sorted((number for number in shares if shares[number] >= HALF), key=lambda number: -shares[number])


def of_stub(stub: str) -> dict[str, Arguments]:
    """The same for the source of a stub, which is trusted."""
    asked: dict[str, Arguments] = {}
    for node in ast.parse(stub).body:
        methods = [one for one in getattr(node, "body", ()) if isinstance(one, FUNCTION)]
        if isinstance(node, ast.ClassDef) and any(stubs.is_unwritten(one.body[-1]) for one in methods):
            asked[node.name] = next((arguments(one)[1:] for one in methods if one.name == "__init__"), ())
        elif isinstance(node, FUNCTION) and stubs.is_unwritten(node.body[-1]):
            asked[node.name] = arguments(node)
    return asked


def arguments(function: patches.Function) -> Arguments:
    """The arguments of a definition, each with its default."""
    its = function.args
    plain = [*its.posonlyargs, *its.args]
    defaults = [*[None] * (len(plain) - len(its.defaults)), *its.defaults]
    rest = [f"*{its.vararg.arg}"] if its.vararg else ["*"] * bool(its.kwonlyargs)
    return (
        *(_render(argument, default) for argument, default in zip(plain, defaults, strict=True)),
        *rest,
        *(_render(argument, default) for argument, default in zip(its.kwonlyargs, its.kw_defaults, strict=True)),
        *([f"**{its.kwarg.arg}"] if its.kwarg else []),
    )


def _share(asked: Collection[str], defined: Collection[str]) -> float:
    """How much of what is asked for is defined. A class is more of an exercise than the functions beside it."""
    classes = {name for name in asked if name[:1].isupper()}
    return max((len(part & {*defined}) / len(part) for part in ({*asked}, classes) if part), default=0.0)


def _render(argument: ast.arg, default: ast.expr | None) -> str:
    return argument.arg if default is None else f"{argument.arg}={ast.unparse(default)}"
