"""A submission: the source of one file, read once as bytes, under limits."""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from grader.catalog import paths
from grader.catalog.errors import BadSubmission
from grader.records.notebook_code import NOT_PYTHON, code_of
from grader.records.regular_file import is_notebook, limit_of, read_bytes, reset_advice, text_of
from grader.records.sanitize import inert
from grader.records.source_encoding import declared_encoding

MAX_BROKEN_CELLS = 5  # the most cells that are not Python of which each has a note of its own
START_ADVICE = " Start from the stub of the exercise."
BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True)
class Submission:
    """One learner's source. filename: the name that the learner gave it; notes: a line for each part left out."""

    source: str
    filename: str
    notes: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """The SHA-256 of the source, in hexadecimal."""
        return hashlib.sha256(self.source.encode()).hexdigest()

    @property
    def reason(self) -> str:
        """The note on a cell that was left out, which may explain a missing definition; "" if there is none."""
        return next((note for note in self.notes if NOT_PYTHON in note), "")


def read(path: Path, is_own: bool = True) -> Submission:
    """The submission in a .py file or an .ipynb notebook. Raises NoSuchFile or BadSubmission.

    is_own: the file is the user's own. Such a file may have hard links, since backups make them; a stranger's may not.
    """
    shown_name = paths.shown(path)
    return decode(read_bytes(path, limit_of(path.name), links=is_own), shown_name, is_notebook(path.name))


def decode(data: bytes, shown_name: str, notebook: bool) -> Submission:
    """The submission in these bytes. shown_name: the name of the file in messages. Raises BadSubmission."""
    notes: tuple[str, ...] = ()
    if notebook:
        text, skipped, problems = code_of(data, shown_name)
        if skipped:
            notes = (
                f"{skipped} magic or shell {'line was' if skipped == 1 else 'lines were'} left out of {shown_name}.",
            )
        notes += tuple(inert(note) for note in problems[:MAX_BROKEN_CELLS])
    else:
        text = text_of(data, shown_name, declared_encoding(data))
    if not text.strip():
        raise BadSubmission(f"{shown_name} is empty.{reset_advice(shown_name) or START_ADVICE}")
    if BIDI.search(text):
        notes += ("The source holds invisible characters that change the direction of text.",)
    return Submission(text, shown_name, notes)
