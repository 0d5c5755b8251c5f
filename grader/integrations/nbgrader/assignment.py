"""One exercise as the cells of a notebook: its lesson, its solution with regions to clear, its groups of checks.

A pure function of texts. The order is that of the lesson: a task, the code that it asks for, its checks.
"""

import ast
import re
from dataclasses import dataclass

from grader.catalog import stubs

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
TASK = re.compile(r"### Task (\d+): ")
HEADING = re.compile(r"#{1,4} ")
NAMED = re.compile(r"`(\w+)")  # "### Task 1: `softmax(x)`" names softmax


@dataclass(frozen=True)
class Markdown:
    """A part of the lesson."""

    text: str


@dataclass(frozen=True)
class Code:
    """Code of the exercise. name: the definition that the learner writes; "" where the code is given."""

    text: str
    name: str = ""


@dataclass(frozen=True)
class Checks:
    """The checks of one task, which share one cell and one score."""

    task: int


Cell = Markdown | Code | Checks


@dataclass(frozen=True)
class _Definition:
    name: str
    text: str  # with the solution's regions marked
    tasks: frozenset[int]


def cells(readme: str, solution: str, tasks: frozenset[int]) -> list[Cell]:
    """The cells of the notebook of one exercise. tasks: those with checks; 0 stands for checks without a task."""
    before, sections, between, after = _sections(readme)
    given_code, definitions = _definitions(solution, {number: _named(text) for number, text in sections.items()})
    last = max(sections, default=0)
    places: dict[int, list[_Definition]] = {}
    place = min(sections, default=0)
    for definition in definitions:  # in the order of the source, since a definition may need an earlier one
        place = max(place, min(max(definition.tasks, default=place), last))
        places.setdefault(place, []).append(definition)
    in_order: list[Cell] = [*map(Markdown, before)]
    in_order += [Code(given_code)] if given_code else []
    waiting = sorted(tasks)
    for number in sorted(sections):
        in_order += map(Markdown, (*between.get(number, ()), sections[number]))
        in_order += [Code(definition.text, definition.name) for definition in places.get(number, ())]
        later = [definition for place, group in places.items() if place > number for definition in group]
        not_written = {task for definition in later for task in definition.tasks}
        ready = [task for task in waiting if (number == last) or (0 < task <= number and task not in not_written)]
        in_order += map(Checks, ready)
        waiting = [task for task in waiting if task not in ready]
    return [*in_order, *map(Markdown, after)]


def mark(function: str) -> str:
    """The source of one top-level function or class with a solution region around each body to write."""
    lines = function.splitlines()
    for node in reversed(_functions(ast.parse(function))):
        if stubs.GIVEN in lines[node.lineno - 1]:
            continue
        body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
        start = (node.body[0].end_lineno or 0) if body is not node.body else node.body[0].lineno - 1
        while body is node.body and start > node.lineno and lines[start - 1].strip().startswith("#"):
            start -= 1
        end = node.end_lineno
        kept_lines, region = [], lines[start:end]
        while region and region[0].strip().startswith("# Task"):
            kept_lines.append(region.pop(0))
        indent = " " * (node.col_offset + 4)
        if any(ast.unparse(statement) == "super().__init__()" for statement in body):
            region.remove(f"{indent}super().__init__()")
            kept_lines.append(f"{indent}super().__init__()")
        lines[start:end] = [*kept_lines, f"{indent}{BEGIN}", *region, f"{indent}{END}"]
    return "\n".join(lines)


def _sections(readme: str) -> tuple[list[str], dict[int, str], dict[int, list[str]], list[str]]:
    """The lesson's text before its tasks, of each task, right before each of the others, and after them.

    Headings outside of code are the borders.
    """
    parts: list[list[str]] = [[]]
    fenced = False
    for line in readme.splitlines():
        fenced ^= line.startswith("```")
        if not fenced and HEADING.match(line) and any(parts[-1]):
            parts.append([])
        parts[-1].append(line)
    texts = ["\n".join(part).strip() for part in parts]
    numbers = [int(heading[1]) if (heading := TASK.match(text)) else None for text in texts]
    first = next((i for i, number in enumerate(numbers) if number is not None), len(texts))
    sections: dict[int, str] = {}
    between: dict[int, list[str]] = {}
    waiting: list[str] = []
    for text, number in zip(texts[first:], numbers[first:], strict=True):
        if number is None:
            waiting.append(text)
        else:
            sections[number], between[number], waiting = text, waiting, []
    return texts[:first], sections, between, waiting


def _named(section: str) -> set[str]:
    """The definitions that the heading of a task names."""
    return set(NAMED.findall(section.partition("\n")[0]))


def _definitions(solution: str, named: dict[int, set[str]]) -> tuple[str, list[_Definition]]:
    """The source above the first definition, and every definition with the constants above it."""
    lines, tree = solution.splitlines(), ast.parse(solution)
    definitions: list[_Definition] = []
    end = tree.body[0].end_lineno if ast.get_docstring(tree) else 0
    given_code = ""
    for node in tree.body:
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            continue
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        between = "\n".join(lines[end : first - 1]).strip()
        source = "\n".join(lines[first - 1 : node.end_lineno])
        text = mark(source)
        if definitions:
            text = f"{between}\n\n\n{text}".lstrip()
        else:
            given_code = between
        tasks = {int(number) for number in re.findall(r"# Task (\d+)", source)}
        tasks |= {number for number, names in named.items() if node.name in names}
        definitions.append(_Definition(node.name, text, frozenset(tasks)))
        end = node.end_lineno
    return given_code, definitions


def _functions(tree: ast.Module) -> list[ast.FunctionDef]:
    """Top-level functions and methods, in order."""
    functions = []
    for node in tree.body:
        members = node.body if isinstance(node, ast.ClassDef) else [node]
        functions += [member for member in members if isinstance(member, ast.FunctionDef)]
    return functions
