"""What one failed check tells about its cause, as plain data: the place, its code, the call and the values."""

from dataclasses import dataclass

from grader.records import syntax
from grader.records.sanitize import inert, label

MAX_CODE = 200  # characters of a line that are kept
MAX_LINES = 3  # of a cause that the frame shows
Rows = tuple[tuple[str, ...], ...]
Mark = tuple[int, int, int]  # a line, and the columns from and to which it is underlined, counted from 0


@dataclass(frozen=True)
class Place:
    """A part of the learner's file. Lines and columns count from 1; a column 0 says that none is known.

    file: "" in the notebook itself. cell: of a notebook, whose lines count from the cell's first; 0 in a file.
    function: around it, or "".
    """

    file: str
    line: int
    end_line: int = 0
    column: int = 0
    end_column: int = 0
    function: str = ""
    cell: int = 0

    @property
    def words(self) -> str:
        """The place as editors and terminals read it: "scores.py:5:31: in attention_weights"."""
        column = f":{self.column}" if self.column else ""
        name = f"{label(self.file)}, " if self.file else ""
        where = f"{name}cell {self.cell}, line " if self.cell else f"{label(self.file)}:"
        return f"{where}{self.line}{column}:" + (f" in {self.function}" if self.function else "")


@dataclass(frozen=True)
class CodeLine:
    """A line of the frame. start, end: what is underlined, counted from 0; equal where nothing is."""

    number: int
    text: str
    start: int = 0
    end: int = 0


@dataclass(frozen=True)
class Evidence:
    """What was called and what came back.

    inputs: the tensors in the call, in words; what: which part of the answer the rows show, where that is not all;
    expected, got: rows of values, all of one length; wrong: the row and column of each wrong one; note: what is not
    in the rows, such as an exception.
    """

    call: str = ""
    inputs: str = ""
    what: str = ""
    expected: Rows = ()
    got: Rows = ()
    wrong: tuple[tuple[int, int], ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Finding:
    """What is known of one failure.

    says: the error in words, "" where the values are wrong; tried: whether the sentence was tried out, or is a fact;
    kind: what was changed there when it helped, in words.
    """

    place: Place | None = None
    frame: tuple[CodeLine, ...] = ()
    evidence: Evidence = Evidence()
    says: str = ""
    tried: bool = True
    kind: str = ""


def whole_line(line: int, lines: list[str]) -> Mark:
    """A line with all of its code underlined. lines: of the source."""
    code = (lines[line - 1 : line] or [""])[0]
    return line, len(code) - len(code.lstrip()), end_of_code(code)


def end_of_code(line: str) -> int:
    """The column after the code of a line, before its comment."""
    return len(line.partition("  #")[0].rstrip())


def at(source: str, filename: str, marks: tuple[Mark, ...], function: str = "") -> tuple[Place, tuple[CodeLine, ...]]:
    """The place of these lines and its frame: the lines, and before the first one the line above it in the function."""
    lines = dict(enumerate(syntax.LINE_ENDS.split(source), 1))
    first, start, end = marks[0]
    cell, number = syntax.cell_and_line(source, first)
    offset = first - number
    last = max(line for line, _, _ in marks)
    column = (start + 1, end + 1) if end > start else (0, 0)
    place = Place(filename, number, last - offset, *column, function, cell)
    shown = {line: (start, end) for line, start, end in marks[:MAX_LINES]}
    above = first - 1
    if above > offset and _is_context(lines.get(above, ""), lines.get(first, "")):
        shown = {above: (0, 0), **shown}
    texts = {line: lines.get(line, "").expandtabs(1) for line in shown}
    indent = min((len(text) - len(text.lstrip()) for text in texts.values() if text.strip()), default=0)
    frame = tuple(
        CodeLine(line - offset, inert(texts[line][indent:])[:MAX_CODE], max(start - indent, 0), max(end - indent, 0))
        for line, (start, end) in sorted(shown.items())
    )
    return place, frame


def _is_context(above: str, line: str) -> bool:
    """Whether the line above belongs to the same block, and says something."""
    text = above.strip()
    is_deeper = len(above) - len(above.lstrip()) > len(line) - len(line.lstrip())
    return bool(text) and not is_deeper and not text.startswith(("@", "#", '"""')) and not text.endswith('"""')
