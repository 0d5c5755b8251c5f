"""Makes a stub, which is the solution without its bodies, and compares a stub with the solution.

A function or method with a comment `# given` on its def line is the same in both.
Comments at the start of a body, `# Task 2: …`, remain in the stub.
"""

import ast
import contextlib
import itertools

from grader.catalog import patches, paths

GIVEN = "# given"


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
