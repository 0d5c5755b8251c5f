"""Makes a stub, which is the solution without its bodies, compares one with the solution, reads what it asks for.

A function or method with a comment `# given` on its def line is the same in both.
Comments at the start of a body, `# Task 2: …`, remain in the stub.
"""

import ast
import contextlib
import functools
import itertools
from collections.abc import Collection, Mapping

from grader.catalog import exercise, patches, paths
from grader.catalog.patches import FUNCTION

Arguments = tuple[str, ...]  # ("d_in", "d_out", "qkv_bias=False"), without self
GIVEN = "# given"
HALF = 0.5


def original(folder: str) -> str | None:
    """The stub as it was handed out: made from the solution, or the copy in a bundle; None where there is neither."""
    for path, make_stub in ((paths.pristine_stub(folder), str), (paths.solution(folder), make)):
        with contextlib.suppress(FileNotFoundError):
            return make_stub(path.read_text("utf-8"))
    return None


def make(solution: str) -> str:
    """The stub's source for a solution's source."""
    lines = solution.splitlines()
    for function in reversed(patches.definitions(solution).values()):
        if GIVEN in lines[function.lineno - 1]:
            continue
        body = function.body
        has_docstring = ast.get_docstring(function, clean=False) is not None
        start, end = (body[0].end_lineno or 0 if has_docstring else body[0].lineno - 1), body[-1].end_lineno
        while not has_docstring and start > function.lineno and lines[start - 1].strip().startswith("#"):
            start -= 1
        indent = " " * (function.col_offset + 4)
        kept_lines = list(itertools.takewhile(lambda line: line.strip().startswith("# Task"), lines[start:end]))
        if any(ast.unparse(node) == "super().__init__()" for node in body):
            kept_lines.append(f"{indent}super().__init__()")
        lines[start:end] = [*kept_lines, f"{indent}raise NotImplementedError"]
    return "\n".join(lines) + "\n"


def first_difference(stub: str, solution: str) -> tuple[int, str | None]:
    """The number of the first line that differs, and the difference; (0, None) where only bodies differ."""
    lines = itertools.zip_longest(stub.splitlines(), make(solution).splitlines(), fillvalue="")
    for number, (line, expected) in enumerate(lines, 1):
        if line != expected:
            return number, f"is {line.strip()!r}, where the solution gives {expected.strip()!r}"
    return 0, None


def is_unwritten(node: ast.AST) -> bool:
    """Whether a node is the statement that a stub has in the place of a body."""
    raised = node.exc if isinstance(node, ast.Raise) else None
    called = raised.func if isinstance(raised, ast.Call) else raised
    return isinstance(called, ast.Name) and called.id == "NotImplementedError"


@functools.lru_cache(64)
def asked(folder: str) -> Mapping[str, Arguments]:
    """The name of each function and class that the learner writes, with the arguments of a call.

    Nothing where the stub is not there.
    """
    return asked_by(original(folder) or "")


@functools.lru_cache(256)
def of_call(folder: str, function: str) -> Arguments:
    """The arguments of a function, or of a method such as "Layer.__call__", as the stub has them; () if unknown."""
    owner, _, method = function.partition(".")
    if not method:
        return asked(folder).get(function, ())
    stub = original(folder) or ""
    found = patches.definitions(stub).get(f"{owner}.{method.replace('__call__', 'forward')}")
    return arguments(found)[1:] if found else ()


def is_asked(name: str) -> bool:
    """Whether some exercise asks for this name."""
    return any(name in asked(one.folder) for one in exercise.exercises())


def exercises_of(defined: Collection[str]) -> list[str]:
    """The numbers of the exercises of whose names or classes a file defines at least half, the most first."""
    shares = {one.folder[:2]: _share(asked(one.folder), defined) for one in exercise.exercises()}
    return sorted((number for number in shares if shares[number] >= HALF), key=lambda number: -shares[number])


def asked_by(stub: str) -> dict[str, Arguments]:
    """The same for the source of a stub, which is trusted."""
    found: dict[str, Arguments] = {}
    for node in ast.parse(stub).body:
        methods = [one for one in getattr(node, "body", ()) if isinstance(one, FUNCTION)]
        if isinstance(node, ast.ClassDef) and any(is_unwritten(one.body[-1]) for one in methods):
            found[node.name] = next((arguments(one)[1:] for one in methods if one.name == "__init__"), ())
        elif isinstance(node, FUNCTION) and is_unwritten(node.body[-1]):
            found[node.name] = arguments(node)
    return found


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
