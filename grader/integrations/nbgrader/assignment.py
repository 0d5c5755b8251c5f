"""One exercise as the cells of a notebook: its lesson, its solution with regions to clear, its check groups.

A pure function of texts. The order is the lesson's: a task, the code that it asks for, its checks.
"""

import ast
import re
from dataclasses import dataclass

from grader.catalog import stubs

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
TASK = re.compile(r"#{2,4} Task (\d+)\b(.*)")
HEADING = re.compile(r"#{1,4} ")
NAMED = re.compile(r"`(\w+)")  # "## Task 1: `softmax(x)`" names softmax


@dataclass(frozen=True)
class Markdown:
    """A part of the lesson."""

    text: str


@dataclass(frozen=True)
class Code:
    """Code of the exercise. `name` is the definition that the learner writes; "" for what is given."""

    text: str
    name: str = ""


@dataclass(frozen=True)
class Checks:
    """The check group of one task: graded together, one score."""

    task: int


Cell = Markdown | Code | Checks


@dataclass(frozen=True)
class _Definition:
    name: str
    text: str  # with the solution's regions marked
    tasks: frozenset[int]


def cells(readme: str, solution: str, tasks: frozenset[int]) -> list[Cell]:
    """The cells of the notebook of one exercise. tasks: those with checks; 0 stands for checks without a task."""
    before, sections, after = _sections(readme)
    given, definitions = _definitions(solution, {number: _named(text) for number, text in sections.items()})
    last = max(sections, default=0)
    places, place = {}, min(sections, default=0)
    for definition in definitions:  # the source's order stays: what stands below may build on what stands above
        place = max(place, min(max(definition.tasks, default=place), last))
        places.setdefault(place, []).append(definition)
    made: list[Cell] = [*map(Markdown, before)]
    made += [Code(given)] if given else []
    waiting = sorted(tasks)
    for number in sorted(sections):
        made.append(Markdown(sections[number]))
        made += [Code(definition.text, definition.name) for definition in places.get(number, ())]
        written = {task for at, group in places.items() if at > number for d in group for task in d.tasks}
        ready = [task for task in waiting if (number == last) or (0 < task <= number and task not in written)]
        made += map(Checks, ready)
        waiting = [task for task in waiting if task not in ready]
    return [*made, *map(Markdown, after)]


def mark(function: str) -> str:
    """The source of one top-level function or class with a solution region around each body to write."""
    lines = function.splitlines()
    for node in reversed(_functions(ast.parse(function))):
        if stubs.GIVEN in lines[node.lineno - 1]:
            continue
        body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
        start = node.body[0].end_lineno if body is not node.body else node.body[0].lineno - 1
        while body is node.body and start > node.lineno and lines[start - 1].strip().startswith("#"):
            start -= 1
        end = node.end_lineno
        kept, written = [], lines[start:end]
        while written and written[0].strip().startswith("# Task"):
            kept.append(written.pop(0))
        indent = " " * (node.col_offset + 4)
        if any(ast.unparse(statement) == "super().__init__()" for statement in body):
            written.remove(f"{indent}super().__init__()")
            kept.append(f"{indent}super().__init__()")
        lines[start:end] = [*kept, f"{indent}{BEGIN}", *written, f"{indent}{END}"]
    return "\n".join(lines)


def _sections(readme: str) -> tuple[list[str], dict[int, str], list[str]]:
    """The lesson's text before its tasks, by task, and after them; cut at headings outside of code."""
    parts, fenced = [[]], False
    for line in readme.splitlines():
        fenced ^= line.startswith("```")
        if not fenced and HEADING.match(line) and any(parts[-1]):
            parts.append([])
        parts[-1].append(line)
    texts = ["\n".join(part).strip() for part in parts]
    numbers = [int(found[1]) if (found := TASK.match(text)) else None for text in texts]
    first = next((i for i, number in enumerate(numbers) if number is not None), len(texts))
    before, after, sections, current = texts[:first], [], {}, None
    for text, number in zip(texts[first:], numbers[first:], strict=True):
        deeper = current is not None and text.startswith("###") and not sections[current].startswith("###")
        if number is not None:
            current = number
            sections[number] = text
        elif deeper and not after:
            sections[current] += f"\n\n{text}"
        else:
            after.append(text)
    return before, sections, after


def _named(section: str) -> set[str]:
    return set(NAMED.findall(section.partition("\n")[0]))


def _definitions(solution: str, named: dict[int, set[str]]) -> tuple[str, list[_Definition]]:
    """The source above the first definition, and every definition with the constants above it."""
    lines, tree = solution.splitlines(), ast.parse(solution)
    found, end = [], tree.body[0].end_lineno if ast.get_docstring(tree) else 0
    given = ""
    for node in tree.body:
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            continue
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        between = "\n".join(lines[end : first - 1]).strip()
        source = "\n".join(lines[first - 1 : node.end_lineno])
        text = mark(source)
        if found:
            text = f"{between}\n\n\n{text}".lstrip()
        else:
            given = between
        tasks = {int(number) for number in re.findall(r"# Task (\d+)", source)}
        tasks |= {number for number, names in named.items() if node.name in names}
        found.append(_Definition(node.name, text, frozenset(tasks)))
        end = node.end_lineno
    return given, found


def _functions(tree: ast.Module) -> list[ast.FunctionDef]:
    """Top-level functions and methods, in order."""
    found = []
    for node in tree.body:
        members = node.body if isinstance(node, ast.ClassDef) else [node]
        found += [member for member in members if isinstance(member, ast.FunctionDef)]
    return found
