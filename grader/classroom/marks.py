"""The plain data of a class: students, what they handed in, and the list of marks that goes through a run."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grader.classroom.intake import archives
from grader.records.safe_files import plain_name
from grader.records.sanitize import label
from grader.records.submission import Submission

GRADED, NOT_BEGUN, PERSON, NOTHING = "graded", "not begun", "needs a person", "nothing handed in"
LEFT_OUT = "left out"
RANK = {PERSON: 0, LEFT_OUT: 2}  # of the lines in marks.csv; 1 for all others


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
        name = os.path.basename(self.member or self.place)
        plain = plain_name(name)
        return "" if plain == name else f"It was read as {label(plain)}. Call it so next time."


@dataclass(frozen=True, slots=True)
class Mark:
    """A line of marks.csv: what became of a file, or of a student's exercise.

    student None: nobody knows whose the file is; file: its place, as names.csv calls it; note: why there is no mark, or
    what was noted on the file; to_do: what to do about it; points: None if there is no mark; content, key: of source
    and result in the store.
    """

    status: str
    student: Student | None
    exercise: str = ""
    file: str = ""
    note: str = ""
    to_do: str = ""
    points: float | None = None
    handin: HandIn | None = None
    content: str = ""
    key: str = ""

    @property
    def who(self) -> str:
        """The student and the exercise, as far as they are known."""
        number = f" · {self.exercise[:2]}" if self.exercise else ""
        return f"{self.student.label if self.student else 'nobody known'}{number}"


@dataclass(frozen=True)
class Found:
    """What a download holds. layout: a few words on it; enrolled: students who have a row in any case.

    others: what needs a person or was left out.
    """

    layout: str
    handins: tuple[HandIn, ...]
    others: tuple[Mark, ...] = ()
    enrolled: tuple[Student, ...] = ()

    @property
    def misplaced(self) -> list[Mark]:
        return [mark for mark in self.others if mark.status == PERSON]

    @property
    def students(self) -> tuple[Student, ...]:
        known = {handin.student for handin in self.handins} | {one.student for one in self.misplaced if one.student}
        return tuple(sorted(known.union(self.enrolled)))


def left_out(place: str, reason: str, student: Student | None = None) -> Mark:
    """The mark of a file or a folder that needs no person."""
    return Mark(LEFT_OUT, student, "", label(place), reason)


def nothing_handed_in(students: Iterable[Student], exercises: Sequence[str], marks: Sequence[Mark]) -> Iterator[Mark]:
    """A mark for each exercise that a student lacks, unless a file that needs a person may be it."""
    known = {(mark.student, mark.exercise) for mark in marks if mark.status != LEFT_OUT}
    for student in students:
        if (student, "") not in known:
            yield from (Mark(NOTHING, student, one) for one in exercises if (student, one) not in known)


def in_order(marks: Iterable[Mark]) -> list[Mark]:
    """The marks as marks.csv has them: first what needs a person, last what was left out."""
    return sorted(marks, key=lambda one: (RANK.get(one.status, 1), one.student or Student(""), one.exercise, one.file))


def listed(names: Sequence[str], limit: int) -> str:
    """At most `limit` names, and how many more there are."""
    return ", ".join(names[:limit]) + (f" and {len(names) - limit:,} more" if len(names) > limit else "")


def count_in_words(count: int, noun: str) -> str:
    """A number of things in words: "1 grading", "1,200 gradings"."""
    return f"{count:,} {noun if count == 1 else f'{noun}s'}"
