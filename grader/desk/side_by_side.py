"""A coloured comparison of the learner's file with the reference, side by side where the terminal is wide enough."""

import ast
import difflib
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from grader.catalog import paths
from grader.catalog.errors import WrongUse
from grader.records.sanitize import inert

WIDE = 150  # columns from which two sources fit beside one another
CONTEXT = 2  # equal lines shown around a difference
ADDED, REMOVED, EQUAL, SKIPPED = "green", "red", "", "dim"


@dataclass(frozen=True)
class Row:
    """One line of the comparison. mine, theirs: None where that side has no line; equal: both are the same line."""

    mine: str | None
    theirs: str | None
    equal: bool
    skipped: int = 0  # the row stands for so many equal lines, which are not shown


def of(folder: str, width: int) -> RenderableType:
    """The comparison for one exercise, `width` columns wide. Raises WrongUse where one of the files is absent."""
    path = paths.stub(folder)
    try:
        reference = paths.solution(folder).read_text("utf-8")
    except OSError:
        raise WrongUse(
            "This copy holds no solutions. Your teacher, or the project's own repository, has them."
        ) from None
    try:
        mine = path.read_text("utf-8", errors="replace")
    except OSError:
        raise WrongUse(
            f"There is no file {paths.shown(path)} to compare. Get it back: make reset EX={folder[:2]}"
        ) from None
    return render(mine, reference, width)


def rows(mine: str, theirs: str) -> list[Row]:
    """The two sources line by line, with long equal stretches left out."""
    my_lines, their_lines = inert(mine).splitlines(), inert(theirs).splitlines()
    compared: list[Row] = []
    for tag, a, b, c, d in difflib.SequenceMatcher(None, my_lines, their_lines, autojunk=False).get_opcodes():
        if tag == "equal":
            compared += _shortened([Row(line, line, True) for line in my_lines[a:b]], a == 0, b == len(my_lines))
            continue
        sides = my_lines[a:b], their_lines[c:d]
        for number in range(max(map(len, sides))):
            pair = [side[number] if number < len(side) else None for side in sides]
            compared.append(Row(*pair, equal=False))
    return compared


def render(mine: str, theirs: str, width: int) -> RenderableType:
    """The comparison for a terminal `width` columns wide. It begins with the docstring of the reference."""
    compared = rows(mine, theirs)
    if all(row.equal for row in compared):
        return Group(Text(notes(theirs), "bold"), Text("Yours is the reference, line by line.", ADDED))
    legend = Text.assemble(("- yours", REMOVED), "   ", ("+ the reference", ADDED))
    body = _beside(compared) if width >= WIDE else _below(compared)
    return Group(Text(notes(theirs), "bold"), legend, Text(), body)


def notes(source: str) -> str:
    """The docstring of the reference."""
    return ast.get_docstring(ast.parse(source)) or "The reference"


def _shortened(equal: list[Row], first: bool, last: bool) -> list[Row]:
    """Equal rows without those far from a difference. first, last: the rows begin or end the files."""
    before, after = (0 if first else CONTEXT), (0 if last else CONTEXT)
    skipped = len(equal) - before - after
    if skipped <= 1:
        return equal
    return [*equal[:before], Row(None, None, True, skipped), *(equal[-after:] if after else [])]


def _below(compared: list[Row]) -> Text:
    """One column: of each difference the learner's lines, then those of the reference."""
    lines: list[tuple[str, str]] = []
    removed, added = [], []
    for row in [*compared, Row(None, None, True)]:
        if not row.equal:
            removed += [(f"- {row.mine}", REMOVED)] if row.mine is not None else []
            added += [(f"+ {row.theirs}", ADDED)] if row.theirs is not None else []
            continue
        lines += removed + added
        removed, added = [], []
        if row.skipped:
            lines.append((_left_out(row), SKIPPED))
        elif row.mine is not None:
            lines.append((f"  {row.mine}", EQUAL))
    return Text("\n").join(Text(line, style) for line, style in lines)


def _beside(compared: list[Row]) -> Table:
    """Two columns: the learner's lines and those of the reference."""
    table = Table(box=None, expand=True, padding=(0, 1), show_header=True)
    for title in ("yours", "the reference"):
        table.add_column(title, ratio=1, overflow="fold")
    for row in compared:
        if row.skipped:
            table.add_row(Text(_left_out(row), SKIPPED), "")
        else:
            styles = (EQUAL, EQUAL) if row.equal else (REMOVED, ADDED)
            table.add_row(*(Text(line or "", style) for line, style in zip((row.mine, row.theirs), styles)))
    return table


def _left_out(row: Row) -> str:
    return f"  … {row.skipped} equal lines"
