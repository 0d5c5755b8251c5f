"""Reads a submission: one file, read once as bytes, under limits."""

import ast
import errno
import hashlib
import json
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from grader.catalog import paths
from grader.catalog.errors import BadSubmission
from grader.records import places
from grader.records.limited import limited
from grader.records.places import LINE_ENDS
from grader.records.sanitize import inert
from grader.records.syntax import parsed

MAX_SOURCE = 256 << 10  # bytes of a .py file, and of the code in a notebook
MAX_UNREAD = 5  # cells that are not Python, each told on its own
MAX_NOTEBOOK = 16 << 20  # bytes of a notebook, which holds pictures too
NOT_PYTHON = "is not Python: the cell was left out"
# Magics and shell lines, the shell's answer put into a name, and the commands that need no sign before them.
COMMAND = r"(?:pip|conda|mamba|cd|ls|pwd|mkdir|cp|mv|rm|cat)(?:\s+[^\s=(.,\[]|\s*$)"
MAGIC = re.compile(rf"[%!?]|[\w.\[\], ]+=\s*[%!]|{COMMAND}")
TIMED = re.compile(r"%time\s+")
RUN_ALL_THE_SAME = ("%%time", "%%capture")
FROM_THE_STUB = " Start from the stub of the exercise."
EXERCISES_FILE = re.compile(r"exercises[/\\](\d\d)_\w+[/\\][^/\\]+$")
BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")


class NoSuchFile(Exception):
    """There is no such file. A command ends with exit code 2 (wrong use)."""


@dataclass(frozen=True)
class Submission:
    """One learner's source. filename: as the learner calls it; notes: what was left out."""

    source: str
    filename: str
    notes: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """The SHA-256 of the source, in hexadecimal."""
        return hashlib.sha256(self.source.encode()).hexdigest()

    @property
    def reason(self) -> str:
        """Why something that was handed in may be missing from the source; "" where nothing says so."""
        return next((note for note in self.notes if NOT_PYTHON in note), "")


def read(path: Path, own: bool = True) -> Submission:
    """The submission in a .py file or an .ipynb notebook. Raises NoSuchFile or BadSubmission.

    own: the file is the user's own, and may have hard links, since backups make them; a stranger's may not.
    """
    shown = paths.shown(path)
    return decode(read_bytes(path, limit_of(path.name), links=own), shown, is_notebook(path.name))


def is_notebook(name: str) -> bool:
    """Whether a file of this name is a notebook."""
    return name.lower().endswith(".ipynb")


def limit_of(name: str) -> int:
    """The largest size, in bytes, of a file of this name."""
    return MAX_NOTEBOOK if is_notebook(name) else MAX_SOURCE


def decode(data: bytes, shown: str, notebook: bool) -> Submission:
    """The submission in these bytes, which messages call `shown`. Raises BadSubmission."""
    notes: tuple[str, ...] = ()
    if notebook:
        text, skipped, unread = _source_of_notebook(data, shown)
        if skipped:
            notes = (f"{skipped} magic or shell {'line was' if skipped == 1 else 'lines were'} left out of {shown}.",)
        notes += tuple(inert(note) for note in unread[:MAX_UNREAD])
    else:
        text = _text(data, shown)
    if not text.strip():
        raise BadSubmission(f"{shown} is empty.{_fresh_stub(shown) or FROM_THE_STUB}")
    if BIDI.search(text):
        notes += ("The source holds invisible characters that change the direction of text.",)
    return Submission(text, shown, notes)


def read_bytes(path: Path, limit: int, links: bool = False) -> bytes:
    """The bytes of one regular file, at most `limit`. Raises NoSuchFile or BadSubmission as `open_regular`."""
    with open_regular(path, links) as file:
        return read_open(file, paths.shown(path), limit)


def read_open(file: BinaryIO, shown: str, limit: int) -> bytes:
    """The bytes of a file that `open_regular` opened, at most `limit`. Raises BadSubmission where there are more."""
    size = os.fstat(file.fileno()).st_size
    if size > limit:
        raise BadSubmission(f"{shown} is too large: {size / 1e6:.1f} MB, where {limit / 1e6:.2g} MB is the limit.")
    data = file.read(limit + 1)
    if len(data) > limit:
        raise BadSubmission(f"{shown} grew while it was read. Try again.")
    return data


def open_regular(path: Path | str, links: bool = False, folder: int | None = None) -> BinaryIO:
    """One regular file, open for reading. Raises NoSuchFile, and BadSubmission for a link, a pipe or a device.

    links: hard links are allowed. folder: the descriptor of the folder to which `path` is relative.
    """
    shown = paths.shown(Path(path)) if folder is None else str(path)
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        descriptor = os.open(path, flags, dir_fd=folder)
    except FileNotFoundError:
        raise NoSuchFile(f"There is no file {shown}.{_fresh_stub(shown)}") from None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise BadSubmission(f"{shown} is a symbolic link. Hand in the file itself.") from None
        raise BadSubmission(f"{shown} cannot be read: {error.strerror}.") from None
    facts, trouble = os.fstat(descriptor), ""
    if stat.S_ISDIR(facts.st_mode):
        trouble = f"{shown} is a directory. Name the .py or .ipynb file inside it."
    elif not stat.S_ISREG(facts.st_mode):
        trouble = f"{shown} is not a regular file."
    elif facts.st_nlink > 1 and not links:
        trouble = f"{shown} is a hard link to another file. Hand in a copy."
    if trouble:
        os.close(descriptor)
        raise BadSubmission(trouble)
    return os.fdopen(descriptor, "rb")


def without_magics(cell: str) -> tuple[str, int]:
    """A cell's plain Python, and how many magic or shell lines were left out. A %%magic cell is left out as a whole.

    As in Jupyter, a cell whose first line is indented loses that indent, and what is timed is run.
    """
    if parsed(cell) is not None:
        return cell, 0
    cell = _without_indent(cell)
    words = cell.split(maxsplit=1)
    if words and words[0].startswith("%%") and words[0] not in RUN_ALL_THE_SAME:
        return "", 1
    lines, skipped, goes_on = [], 0, False
    for line in LINE_ENDS.split(cell) if parsed(cell) is None else []:
        bare = line.lstrip()
        timed = TIMED.match(bare)
        if timed:
            line = line[: len(line) - len(bare)] + bare[timed.end() :]
        elif goes_on:
            goes_on, line = bare.endswith("\\"), f"# left out: {bare}"
        elif MAGIC.match(bare) or bare.endswith("?"):
            skipped += 1
            goes_on = bare.endswith("\\")
            line = f"{line[: len(line) - len(bare)]}pass  # left out: {bare}"
        lines.append(line)
    return "\n".join(lines) if lines else cell, skipped


def _without_indent(cell: str) -> str:
    """The cell without the indent of its first line, as far as other lines share it."""
    lines = LINE_ENDS.split(cell)
    first = next((line for line in lines if line.strip()), "")
    indent = first[: len(first) - len(first.lstrip(" \t"))]
    return "\n".join(line.removeprefix(indent) for line in lines)


def _problem(cell: str) -> str:
    """Why a cell is not Python, with the line in it; "" where it is."""
    if parsed(cell) is not None:
        return ""
    try:
        ast.parse(cell)
    except SyntaxError as error:
        return f", line {error.lineno or 1} {NOT_PYTHON}: {type(error).__name__}, {error.msg}"
    except ValueError:
        pass
    return f", line 1 {NOT_PYTHON}"


def _text(data: bytes, shown: str) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadSubmission(
            f"{shown} is not UTF-8 text (byte {error.start}). Save it again with the encoding UTF-8."
        ) from None
    if "\0" in text:
        raise BadSubmission(f"{shown} holds a NUL byte: it is not a text file. Save it again as plain text.")
    return text


@limited
def _source_of_notebook(data: bytes, shown: str) -> tuple[str, int, list[str]]:
    """The code cells as one source, how many magic or shell lines were left out of it, and which cells, and why.

    The amount of code is checked before any of it is parsed. Raises BadSubmission.
    """
    try:
        cells = json.loads(_text(data, shown))["cells"]
        sources = [_joined(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise BadSubmission(
            f"{shown} is not a notebook: it is not valid JSON with cells. Save it again from Jupyter."
        ) from None
    titles = [places.title(number) for number in range(1, len(sources) + 1)]
    _bounded("\n".join(titles + sources), shown)
    plain = list(map(without_magics, sources))
    problems = [_problem(kept) for kept, _ in plain]
    kept = ["" if problem else kept for (kept, _), problem in zip(plain, problems)]
    text = "".join(f"{title}\n{cell}\n" for title, cell in zip(titles, kept))
    _bounded(text, shown)
    unread = [f"cell {number}{problem}" for number, problem in enumerate(problems, 1) if problem]
    return text or "\n", sum(skipped for _, skipped in plain), unread


def _joined(source: object) -> str:
    """The text of a cell, which a notebook holds as a string or as a list of lines. Raises TypeError otherwise."""
    if not isinstance(source, (str, list)):
        raise TypeError
    return "".join(source)


def _bounded(text: str, shown: str) -> None:
    """Raise BadSubmission for code of a notebook that could not be a .py file."""
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        half = text[error.start].encode("unicode_escape").decode()
        raise BadSubmission(
            f"{shown} holds half a character ({half}) in its code. Delete it, and save again."
        ) from None
    if "\0" in text:
        raise BadSubmission(f"{shown} holds a NUL character in its code. Delete it.")
    if size > MAX_SOURCE:
        raise BadSubmission(
            f"{shown} holds too much code: {size / 1e6:.1f} MB, where {MAX_SOURCE / 1e6:.2g} MB is the limit. "
            "Leave out what the exercise does not need."
        )


def _fresh_stub(shown: str) -> str:
    """What to type for a file of the exercises that is gone or empty; "" for another one."""
    found = EXERCISES_FILE.search(shown)
    return f" The fresh stub: make reset EX={found[1]}" if found else ""
