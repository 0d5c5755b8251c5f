"""The reference beside the learner's own: a coloured diff, side by side where there is room."""

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
    """One line of the comparison; a side that has none is None. `equal`: both are the same line."""

    mine: str | None
    theirs: str | None
    equal: bool
    skipped: int = 0  # equal lines left out here, instead of a line


def of(folder: str, width: int) -> RenderableType:
    """The comparison for one exercise. Raises WrongUse where one of the two is not there."""
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
    ours, others = inert(mine).splitlines(), inert(theirs).splitlines()
    found: list[Row] = []
    for tag, a, b, c, d in difflib.SequenceMatcher(None, ours, others, autojunk=False).get_opcodes():
        if tag == "equal":
            found += _shortened([Row(line, line, True) for line in ours[a:b]], a == 0, b == len(ours))
            continue
        left, right = ours[a:b], others[c:d]
        for number in range(max(len(left), len(right))):
            pair = [side[number] if number < len(side) else None for side in (left, right)]
            found.append(Row(*pair, equal=False))
    return found


def render(mine: str, theirs: str, width: int) -> RenderableType:
    """The comparison for a terminal of this width, with the reference's own words first."""
    found = rows(mine, theirs)
    if all(row.equal for row in found):
        return Group(Text(notes(theirs), "bold"), Text("Yours is the reference, line by line.", ADDED))
    legend = Text.assemble(("- yours", REMOVED), "   ", ("+ the reference", ADDED))
    body = _beside(found) if width >= WIDE else _below(found)
    return Group(Text(notes(theirs), "bold"), legend, Text(), body)


def notes(source: str) -> str:
    """What the reference says of itself: its docstring. Its other notes stand in its lines."""
    return ast.get_docstring(ast.parse(source)) or "The reference"


def _shortened(equal: list[Row], first: bool, last: bool) -> list[Row]:
    before, after = (0 if first else CONTEXT), (0 if last else CONTEXT)
    skipped = len(equal) - before - after
    if skipped <= 1:
        return equal
    return [*equal[:before], Row(None, None, True, skipped), *(equal[-after:] if after else [])]


def _below(found: list[Row]) -> Text:
    """One column: what is the learner's own, then what stands there in the reference."""
    lines: list[tuple[str, str]] = []
    removed, added = [], []
    for row in [*found, Row(None, None, True)]:
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


def _beside(found: list[Row]) -> Table:
    table = Table(box=None, expand=True, padding=(0, 1), show_header=True)
    for title in ("yours", "the reference"):
        table.add_column(title, ratio=1, overflow="fold")
    for row in found:
        if row.skipped:
            table.add_row(Text(_left_out(row), SKIPPED), "")
        else:
            styles = (EQUAL, EQUAL) if row.equal else (REMOVED, ADDED)
            table.add_row(*(Text(line or "", style) for line, style in zip((row.mine, row.theirs), styles)))
    return table


def _left_out(row: Row) -> str:
    return f"  … {row.skipped} equal lines"
