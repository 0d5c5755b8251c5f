"""Pre-commit hook: no file in exercises/ holds the body of a function of its solution. Needs no torch."""

import ast
import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from grader.catalog import patches, paths, stubs

COMMENT = re.compile(r"\s*#.*$")


def main(names: list[str]) -> int:
    guilty = 0
    for name in map(Path, names):
        for function in find_solved(name):
            print(f"{name} holds the solution of {function}. Take it out, or: make reset EX={name.parts[1][:2]}")
            guilty = 1
    return guilty


def find_solved(name: Path) -> list[str]:
    """The functions of the solution whose whole body is in the file."""
    solution = paths.solution(name.parts[1]) if len(name.parts) > 2 else None
    if solution is None or not solution.exists():
        return []
    lines, is_code = code_of(name), name.suffix in (".py", ".ipynb")
    text = "\n" + "\n".join(lines) + "\n"
    found = []
    for function, body in bodies(solution.read_text("utf-8")).items():
        long_enough = len(body) > 1 or is_code  # a lesson may well show one line
        if body and long_enough and "\n" + "\n".join(body) + "\n" in text:
            found.append(function)
    return found


def bodies(solution: str) -> dict[str, list[str]]:
    """The lines of each function that a learner has to write, without docstring and comments."""
    found, lines = {}, solution.splitlines()
    for function in patches.definitions(solution).values():
        if stubs.GIVEN in lines[function.lineno - 1]:
            continue
        has_docstring = ast.get_docstring(function, clean=False) is not None
        body = function.body[1:] if has_docstring else function.body
        if body:
            found[function.name] = bare(lines[body[0].lineno - 1 : body[-1].end_lineno])
    return found


def bare(lines: list[str]) -> list[str]:
    stripped = (COMMENT.sub("", line).strip() for line in lines)
    return [line for line in stripped if line and line != "super().__init__()"]


def code_of(name: Path) -> list[str]:
    text = name.read_text("utf-8", errors="replace")
    if name.suffix == ".ipynb":
        try:
            text = "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"])
        except (ValueError, KeyError, TypeError):
            pass
    return bare(text.splitlines())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
