"""The stub is the solution with its bodies taken out: makes it, and proves it.

A function or method marked with a comment `# given` at its def line stays whole in both.
Comments that stand first in a body, `# Task 2: …`, stay in the stub.
"""

import ast

GIVEN = "# given"


def make(solution: str) -> str:
    """The stub's source for a solution's source."""
    lines = solution.splitlines()
    for function in reversed(_functions(ast.parse(solution))):
        if GIVEN in lines[function.lineno - 1]:
            continue
        body = function.body
        after_docstring = body[0].end_lineno if ast.get_docstring(function, clean=False) is not None else None
        start = after_docstring if after_docstring is not None else function.body[0].lineno - 1
        if after_docstring is None:
            while start > function.lineno and lines[start - 1].strip().startswith("#"):
                start -= 1
        end = body[-1].end_lineno
        indent = " " * (function.col_offset + 4)
        kept = []
        for line in lines[start:end]:
            if not line.strip().startswith("# Task"):
                break
            kept.append(line)
        if any(_is_super_init(node) for node in body):
            kept.append(f"{indent}super().__init__()")
        lines[start:end] = [*kept, f"{indent}raise NotImplementedError"]
    return "\n".join(lines) + "\n"


def difference(stub: str, solution: str) -> str | None:
    """What differs beside bodies, or None: compared with the stub that the solution makes."""
    if stub == make(solution):
        return None
    ours, theirs = stub.splitlines(), make(solution).splitlines()
    for number, (mine, made) in enumerate(zip(ours, theirs, strict=False), 1):
        if mine != made:
            return f"line {number} is {mine.strip()!r}, where the solution gives {made.strip()!r}"
    return f"it has {len(ours)} lines, where the solution gives {len(theirs)}"


def _functions(tree: ast.Module) -> list[ast.FunctionDef]:
    found = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            found.append(node)
        if isinstance(node, ast.ClassDef):
            found.extend(item for item in node.body if isinstance(item, ast.FunctionDef))
    return sorted(found, key=lambda node: node.lineno)


def _is_super_init(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and ast.unparse(node) == "super().__init__()"
