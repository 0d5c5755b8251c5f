"""A submission: the source of a .py file or a notebook, decoded and without magics."""

import ast
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from grader.catalog import paths
from grader.catalog.errors import BadSubmission, NoSuchFile
from grader.records import containment
from grader.records.limited import limited
from grader.records.our_cells import without_setup
from grader.records.safe_files import MAX_SOURCE, is_notebook, limit_of, open_regular, read_open, reset_advice, text_of
from grader.records.sanitize import inert
from grader.records.syntax import LINE_ENDS, parse

NOT_PYTHON = "is not Python: the cell was left out"
WITHOUT_CODE = {"markdown": "Markdown", "raw": "raw"}  # types of cells
NOT_A_CODE_CELL = "but it holds code. In Jupyter press Esc, then y, to make it a code cell again"
CONFLICT = tuple(re.compile(mark, re.M) for mark in (r"^<{7} ", r"^={7}$", r"^>{7} "))
MARKS = "git's conflict marks (<<<<<<< … >>>>>>>)"
DEFINES = re.compile(r"^(?:def|class)\s+(\w+)", re.M)
FENCE = re.compile(r"\s*```[ \t]*(?:python|py)?[ \t]*\n(.*?)\n?```\s*", re.S)  # a cell that is nothing else
# Magics, shell lines, assignments of a shell's output, and commands that work without a sign before them.
COMMAND = r"(?:pip|conda|mamba|cd|ls|pwd|mkdir|cp|mv|rm|cat)(?:\s+[^\s=(.,\[]|\s*$)"
MAGIC = re.compile(rf"[%!?]|[\w.\[\], ]+=\s*[%!]|{COMMAND}")
INDENT = re.compile(r"\s*^([ \t]+)(?=\S)", re.M)  # of the first line with code
TIMED = re.compile(r"^(\s*)%time\s+")
HANDED_OUT = re.compile(r"%(?:load_ext documented_checks|documented\b)")  # in the notebooks of a course: no note
RUN_ALL_THE_SAME = ("%%time", "%%capture")
MAX_BROKEN_CELLS = 5  # the most cells that are not Python of which each has a note of its own
START_ADVICE = " Start from the stub of the exercise."
BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")


def is_conflicted(source: str) -> bool:
    """True if a source holds what git writes where it could not merge two versions. Takes linear time."""
    return all(mark.search(source) for mark in CONFLICT)


@limited
def code_of(data: bytes, shown_name: str) -> tuple[str, int, list[str]]:
    """The code cells as one source, the number of magic or shell lines left out, and the cells left out with reasons.

    The amount of code is checked before any of it is parsed. Raises BadSubmission.
    """
    try:
        found = json.loads(text_of(data, shown_name))["cells"]
        if not all(isinstance(cell.get("source", ""), (str, list)) for cell in found):
            raise TypeError
        cells = [(cell["cell_type"], "".join(cell.get("source", ""))) for cell in found]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise BadSubmission(
            f"{shown_name} is not a notebook: it is not valid JSON with cells. Save it again from Jupyter."
        ) from None
    sources = [text for kind, text in cells if kind == "code"]
    lost = _lost_cells(cells)
    if not any(map(str.strip, sources)):
        if lost:
            raise BadSubmission(f"{shown_name} has no code: {lost[0]}.")
        advice = reset_advice(shown_name) or START_ADVICE
        raise BadSubmission(f"{shown_name} is empty: it has no code cell with code in it.{advice}")
    if any(map(is_conflicted, sources)):  # the cell would be left out, since it is not Python
        raise BadSubmission(f"{shown_name} holds {MARKS}.")
    titles = [f"# --- cell {number} ---" for number in range(1, len(sources) + 1)]  # as syntax.TITLE reads them
    _bounded("\n".join(titles + sources), shown_name)
    plain_sources = [without_magics(without_setup(source)) for source in sources]
    problems = [_problem(code) for code, _ in plain_sources]
    codes = ["" if problem else code for (code, _), problem in zip(plain_sources, problems)]
    text = "".join(f"{title}\n{code}\n" for title, code in zip(titles, codes))
    _bounded(text, shown_name)
    unread = [*lost, *(f"cell {number}{problem}" for number, problem in enumerate(problems, 1) if problem)]
    return text, sum(skipped for _, skipped in plain_sources), unread


def without_magics(cell: str) -> tuple[str, int]:
    """The plain Python of a cell, and the number of magic or shell lines left out. A %%magic cell is left out entirely.

    As in Jupyter, a cell whose first line is indented loses that indent, and code after %time is run.
    """
    if parse(cell) is not None:
        return cell, 0
    indent = INDENT.match(cell)
    cell = re.sub(f"^{indent[1]}", "", cell, flags=re.M) if indent else cell
    if parse(cell) is not None:
        return cell, 0
    if cell.lstrip().startswith("%%") and cell.split(maxsplit=1)[0] not in RUN_ALL_THE_SAME:
        return "", 1
    lines, skipped, goes_on = [], 0, False
    for line in LINE_ENDS.split(cell):
        line = TIMED.sub(r"\1", line)
        bare = line.lstrip()
        if goes_on:
            goes_on, line = bare.endswith("\\"), f"# left out: {bare}"
        elif MAGIC.match(bare) or bare.endswith("?"):
            skipped += not HANDED_OUT.match(bare)
            goes_on = bare.endswith("\\")
            line = f"{line[: len(line) - len(bare)]}pass  # left out: {bare}"
        lines.append(line)
    return "\n".join(lines), skipped


@dataclass(frozen=True)
class Submission:
    """One learner's source. filename: the name that the learner gave it; notes: a line for each part left out."""

    source: str
    filename: str
    notes: tuple[str, ...] = ()

    @property
    def reason(self) -> str:
        """The note on a cell that was left out, which may explain a missing definition; "" if there is none."""
        return next((note for note in self.notes if NOT_PYTHON in note), "")


@dataclass(frozen=True)
class Unreadable:
    """A file that is not a submission. reason: why; error: an error of the grader's, if that is why."""

    filename: str
    reason: str
    error: Exception | None = field(default=None, compare=False)


def attempt(read: Callable[[], Submission], shown_name: str) -> Submission | Unreadable:
    """What `read()` returns, or why it returns nothing. shown_name: the name in messages. Raises NoSuchFile."""
    try:
        return read()
    except BadSubmission as error:
        return Unreadable(shown_name, str(error))
    except NoSuchFile:
        raise
    except Exception as error:
        return Unreadable(shown_name, containment.reason(error), error)


def read(path: Path, is_own: bool = True) -> Submission:
    """The submission in a .py file or an .ipynb notebook. Raises NoSuchFile or BadSubmission.

    is_own: the file is the user's own. Such a file may have hard links, since backups make them; a stranger's may not.
    """
    shown_name = paths.shown(path)
    with open_regular(path, links=is_own) as file:
        data = read_open(file, shown_name, limit_of(path.name))
    return decode(data, shown_name, is_notebook(path.name))


def decode(data: bytes, shown_name: str, notebook: bool) -> Submission:
    """The submission in these bytes. shown_name: the name of the file in messages. Raises BadSubmission."""
    notes: list[str] = []
    if notebook:
        text, skipped, problems = code_of(data, shown_name)
        lines = "line was" if skipped == 1 else "lines were"
        notes += [f"{skipped} magic or shell {lines} left out of {shown_name}."] * bool(skipped)
        notes += map(inert, problems[:MAX_BROKEN_CELLS])
    else:
        text = without_setup(text_of(data, shown_name))
    if not text.strip():
        raise BadSubmission(f"{shown_name} is empty.{reset_advice(shown_name) or START_ADVICE}")
    if BIDI.search(text):
        notes.append("The source holds invisible characters that change the direction of text.")
    return Submission(text, shown_name, tuple(notes))


def _problem(cell: str) -> str:
    """The reason why a cell is not Python, with the line in the cell; "" for a cell that is Python."""
    try:
        ast.parse(cell)
    except SyntaxError as error:
        return f", line {error.lineno or 1} {NOT_PYTHON}: {type(error).__name__}, {error.msg}"
    return ""


def _lost_cells(cells: list[tuple[str, str]]) -> list[str]:
    """The Markdown and raw cells that are code and define what no code cell does, each with what to do about it."""
    known = set(DEFINES.findall("\n".join(text for kind, text in cells if kind == "code")))
    lost = []
    for number, (kind, text) in enumerate(cells, 1):
        fenced = FENCE.fullmatch(text)
        code = fenced[1] if fenced else text
        is_lost = kind in WITHOUT_CODE and set(DEFINES.findall(code)) - known
        if is_lost and len(code) <= MAX_SOURCE and parse(code) is not None:
            lost.append(f"its cell {number} is a {WITHOUT_CODE[kind]} cell, {NOT_A_CODE_CELL}")
    return lost


def _bounded(text: str, shown_name: str) -> None:
    """Raise BadSubmission for code of a notebook that could not be a .py file."""
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise BadSubmission(f"{shown_name} holds half a character in its code. Delete it, and save again.") from None
    if "\0" in text:
        raise BadSubmission(f"{shown_name} holds a NUL character in its code. Delete it.")
    if size > MAX_SOURCE:
        raise BadSubmission(f"{shown_name}: too much code, {size / 1e6:.1f} of {MAX_SOURCE / 1e6:.2g} MB. Shorten it.")
