"""A coloured comparison of the learner's file with the reference, side by side where the terminal is wide enough."""

import ast
import difflib
import re
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from grader.catalog import paths
from grader.catalog.errors import WrongUse
from grader.desk import lesson
from grader.records.sanitize import inert
from grader.reports.terminal import Hanging

WIDE = 110  # columns from which two sources fit beside one another
ADDED, REMOVED, EQUAL = "green", "red", ""
NOTICE, FURTHER = "What to notice", "Go further"
DEEPER, ANSWER = re.compile(r"^Dig deeper: ", re.M), re.compile(r"\s+Answer: ")
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
GONE = "\0"  # in place of a line that is taken out


@dataclass(frozen=True)
class Row:
    """One line of the comparison. mine, theirs: None where that side has no line; equal: both are the same line."""

    mine: str | None
    theirs: str | None
    equal: bool


def of(folder: str, width: int) -> RenderableType:
    """The comparison for one exercise, `width` columns wide, and below it what to notice in the reference.

    Raises WrongUse where one of the files is absent.
    """
    path = paths.stub(folder)
    try:
        reference = paths.solution(folder).read_text("utf-8")
    except OSError:
        raise WrongUse(
            "This copy holds no solutions. Your teacher, or the project's own repository, has them."
        ) from None
    try:
        own_source = path.read_text("utf-8", errors="replace")
    except OSError:
        raise WrongUse(
            f"There is no file {paths.shown(path)} to compare. Get it back: make reset EX={folder[:2]}"
        ) from None
    return Group(render(bodies(own_source), bodies(reference), width), *notice(folder), *further(folder))


def notice(folder: str) -> list[RenderableType]:
    """The author's words on the reference, the answer in a paragraph of its own; none where there are none."""
    try:
        markdown = paths.notice(folder).read_text("utf-8")
    except OSError:
        return []
    said = ANSWER.sub("\n\n**Answer:** ", DEEPER.sub("**Dig deeper:** ", markdown))
    return [Text(), Text(NOTICE, "bold"), lesson.render(said)]


def further(folder: str) -> list[RenderableType]:
    """The lesson's questions to go further, with their answers."""
    markdown = lesson.section(folder, FURTHER)
    return [Text(), Text(FURTHER, "bold"), lesson.render(markdown, unfold=True)] if markdown else []


def bodies(source: str) -> str:
    """The source without its docstrings. One that is no Python stays as it is."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return source
    lines = source.splitlines()
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            first = node.body[0]
            following = first.end_lineno or first.lineno
            if len(node.body) > 1 or isinstance(node, ast.Module):  # a body of a docstring alone keeps it
                while following < len(lines) and not lines[following].strip():
                    following += 1  # the empty line below goes along
                for number in range(first.lineno - 1, following):
                    lines[number] = GONE
    return "\n".join(line for line in lines if line is not GONE).strip("\n") + "\n"


def rows(own_source: str, solution_source: str) -> list[Row]:
    """The two sources line by line."""
    my_lines, their_lines = inert(own_source).splitlines(), inert(solution_source).splitlines()
    compared: list[Row] = []
    for tag, a, b, c, d in difflib.SequenceMatcher(None, my_lines, their_lines, autojunk=False).get_opcodes():
        if tag == "equal":
            compared += [Row(line, line, True) for line in my_lines[a:b]]
            continue
        sides = my_lines[a:b], their_lines[c:d]
        for number in range(max(map(len, sides))):
            mine, theirs = (side[number] if number < len(side) else None for side in sides)
            compared.append(Row(mine, theirs, equal=False))
    return compared


def render(own_source: str, solution_source: str, width: int) -> RenderableType:
    """The comparison for a terminal `width` columns wide: beside one another, or below where it is narrow."""
    compared = rows(own_source, solution_source)
    if all(row.equal for row in compared):
        return Group(
            Text("Yours is the reference, line by line.", ADDED), Text(), Hanging(Text(inert(solution_source).rstrip()))
        )
    if width >= WIDE:
        return _beside(compared)
    return Group(Text.assemble(("- yours", REMOVED), "   ", ("+ the reference", ADDED)), Text(), *_below(compared))


def _below(compared: list[Row]) -> list[RenderableType]:
    """One column: of each difference the learner's lines, then those of the reference."""
    lines: list[tuple[str, str]] = []
    removed, added = [], []
    for row in [*compared, Row("", "", True)]:
        if not row.equal:
            removed += [(f"- {row.mine}", REMOVED)] if row.mine is not None else []
            added += [(f"+ {row.theirs}", ADDED)] if row.theirs is not None else []
            continue
        lines += [*removed, *added, (f"  {row.mine}", EQUAL)]
        removed, added = [], []
    return [Hanging(Text(line, style)) for line, style in lines]


def _beside(compared: list[Row]) -> Table:
    """Two columns: the learner's lines and those of the reference."""
    table = Table(box=None, expand=True, padding=(0, 1), show_header=True)
    for title in ("yours", "the reference"):
        table.add_column(title, ratio=1)
    for row in compared:
        styles = (EQUAL, EQUAL) if row.equal else (REMOVED, ADDED)
        table.add_row(*(Hanging(Text(line or "", style)) for line, style in zip((row.mine, row.theirs), styles)))
    return table
