"""The plain data of a class: students and what they handed in."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grader.classroom.intake import archives
from grader.records import safe_files
from grader.records.sanitize import label
from grader.records.submission import Submission


@dataclass(frozen=True, order=True, slots=True)
class Student:
    """One student. id: as LIST has it, else as the download names the student."""

    id: str
    name: str = ""

    @property
    def label(self) -> str:
        """The name and the id, or only the id if there is no other name."""
        return self.id if self.name in ("", self.id) else f"{self.name} ({self.id})"


@dataclass(frozen=True, slots=True)
class Origin:
    """The entry of a download that holds a file.

    platform: who made its name ("Moodle", "Canvas", "Gradescope", "nbgrader"; "": a folder's own name); key: what the
    platform calls the student; name: of the entry.
    """

    platform: str = ""
    key: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class HandIn:
    """One file of one student for one exercise. Only `read` reads it, so a large class needs little memory."""

    student: Student
    exercise: str  # "03_context_vectors"
    place: str  # of the file, or of the archive that holds it, as `beneath` writes it
    member: str = ""  # the name inside the archive
    origin: Origin = Origin()

    def below(self, folder: Path) -> str:
        """The place of the file in a folder, or in an archive of a class, as one harmless line."""
        place = os.path.relpath(self.place, folder)
        if not self.member:
            return label(place)
        return label(self.member if place == "." else f"{place}:{self.member}").replace("//", ":")

    def read(self) -> Submission:
        """The submission. Raises BadSubmission or NoSuchFile."""
        found = archives.read(self.place, self.member)
        return replace(found, notes=(*found.notes, self.read_as)) if self.read_as else found

    @property
    def read_as(self) -> str:
        """A sentence on a name that is read as a different one, x.py.txt as x.py; "" for an ordinary name."""
        found = safe_files.appended(os.path.basename(self.member or self.place))
        if found is None:
            return ""
        ending, code = found
        return f"Its name ends in {label(ending)}, so it was read as .{code}. Call it .{code} next time."


def listed(names: Sequence[str], limit: int) -> str:
    """At most `limit` names, and how many more there are."""
    return ", ".join(names[:limit]) + (f" and {len(names) - limit:,} more" if len(names) > limit else "")


def count_in_words(count: int, noun: str, plural: str = "") -> str:
    """A number of things in words: "1 grading", "1,200 gradings"."""
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"
