"""Takes in what a learner hands over: one file, read once, as bytes, with limits."""

import hashlib
import json
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from grader import paths
from grader.syntax import parsed

MAX_SOURCE = 256 << 10  # bytes of a .py file
MAX_NOTEBOOK = 16 << 20  # a notebook holds pictures too
BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")


class BadSubmission(Exception):
    """The file cannot be graded as it is. The text says why and what to do. (A verdict, exit 1.)"""


class NoSuchFile(Exception):
    """There is no such file. (Wrong use, exit 2.)"""


@dataclass(frozen=True)
class Submission:
    """One learner's source. `filename` is what the learner calls it, `notes` what was left out."""

    source: str
    filename: str
    notes: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.source.encode()).hexdigest()


def read(path: Path, own: bool = True) -> Submission:
    """A .py file or the code cells of an .ipynb. Raises NoSuchFile or BadSubmission.

    own: one's own file, which may have hard links (backups make them); a stranger's may not.
    """
    shown = paths.shown(path)
    return decode(read_bytes(path, limit_of(path.name), links=own), shown, is_notebook(path.name))


def is_notebook(name: str) -> bool:
    return name.lower().endswith(".ipynb")


def limit_of(name: str) -> int:
    """The bytes that a file of this name may have."""
    return MAX_NOTEBOOK if is_notebook(name) else MAX_SOURCE


def decode(data: bytes, shown: str, notebook: bool) -> Submission:
    """The source in these bytes, called `shown` in messages. Raises BadSubmission."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadSubmission(
            f"{shown} is not UTF-8 text (byte {error.start}). Save it again with the encoding UTF-8."
        ) from None
    if "\0" in text:
        raise BadSubmission(f"{shown} holds a NUL byte: it is not a text file. Save it again as plain text.")
    notes: tuple[str, ...] = ()
    if notebook:
        text, notes = notebook_source(text, shown)
    if not text.strip():
        raise BadSubmission(f"{shown} is empty. Start from the stub: git checkout -- {shown}")
    if BIDI.search(text):
        notes += ("The source holds invisible characters that change the direction of text.",)
    return Submission(text, shown, notes)


def read_bytes(path: Path, limit: int, links: bool = False) -> bytes:
    """The bytes of one regular file, at most `limit`; never a link, a pipe or a device."""
    shown = paths.shown(path)
    with open_regular(path, links) as file:
        size = os.fstat(file.fileno()).st_size
        if size > limit:
            raise BadSubmission(f"{shown} is too large: {size / 1e6:.1f} MB, where {limit / 1e6:.2g} MB is the limit.")
        data = file.read(limit + 1)
    if len(data) > limit:
        raise BadSubmission(f"{shown} grew while it was read. Try again.")
    return data


def open_regular(path: Path, links: bool = False) -> BinaryIO:
    """One regular file, opened to read; never a link, a pipe or a device. Raises NoSuchFile or BadSubmission."""
    shown = paths.shown(path)
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        descriptor = os.open(path, flags)
    except FileNotFoundError:
        raise NoSuchFile(f"There is no file {shown}.") from None
    except OSError as error:
        if path.is_symlink():
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


def notebook_source(text: str, shown: str) -> tuple[str, tuple[str, ...]]:
    """The code cells of a notebook as one source, and a note on each magic or shell line left out."""
    try:
        cells = json.loads(text)["cells"]
        sources = ["".join(c["source"]) for c in cells if c["cell_type"] == "code"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise BadSubmission(
            f"{shown} is not a notebook: it is not valid JSON with cells. Save it again from Jupyter."
        ) from None
    lines, skipped = [], 0
    for number, source in enumerate(sources, 1):
        kept, left_out = _without_magics(source)
        lines += [f"# --- cell {number} ---", kept]
        skipped += left_out
    note = f"{skipped} magic or shell {'line was' if skipped == 1 else 'lines were'} left out of {shown}."
    return "\n".join(lines) + "\n", ((note,) if skipped else ())


def _without_magics(cell: str) -> tuple[str, int]:
    """A cell's plain Python, and how many magic or shell lines it lost. A %%magic cell is lost whole."""
    if parsed(cell) is not None:
        return cell, 0
    words = cell.split(maxsplit=1)
    if words and words[0].startswith("%%") and words[0] not in ("%%time", "%%capture"):
        return "", 1
    lines, skipped = [], 0
    for line in cell.splitlines():
        bare = line.lstrip()
        if bare.startswith(("%", "!", "?")) or bare.endswith("?"):
            skipped += 1
            line = f"{line[: len(line) - len(bare)]}pass  # left out: {bare}"
        lines.append(line)
    return "\n".join(lines), skipped
