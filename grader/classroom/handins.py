"""The plain data of a class: students, what they handed in, and the results; and their counts in words."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from grader.classroom.intake import beneath
from grader.records import safe_files, submission
from grader.records.results import ExerciseResult
from grader.records.sanitize import label
from grader.records.submission import Submission

TO_PLACE = "rename the file in the download, or ask the student for the .py file or the notebook, and grade again"
READ_AS = "Its name ends in"  # how the note on a file begins that was read under another name
MOST_LISTED = 50  # the entries in need of a person that the page shows, and the places of one entry


@dataclass(frozen=True, order=True, slots=True)
class Student:
    """One student, with the id and name that the platform of the files uses. `id` names the folder of the results."""

    id: str
    name: str = ""

    @property
    def label(self) -> str:
        """The name and the id, or the id alone where there is no other name."""
        return self.id if self.name in ("", self.id) else f"{self.name} ({self.id})"


@dataclass(frozen=True, slots=True)
class Origin:
    """The entry of a class with which a file came.

    platform: who made its name ("Moodle", "Canvas", "Gradescope", "nbgrader"; "": it is a name of its own); key: what
    the platform calls the student; name: of the entry; late: the platform marks it as late; clone: the folder of a
    clone, or ""; time: when it was handed in, where the download itself says so.
    """

    platform: str = ""
    key: str = ""
    name: str = ""
    late: bool = False
    clone: str = ""
    time: datetime | None = None
    subject: str = ""


@dataclass(frozen=True, slots=True)
class HandIn:
    """One file of one student for one exercise. Only `read` reads it, so that a large class needs little memory."""

    student: Student
    exercise: str  # "03_context_vectors"
    place: str  # of the file, or of its archive, as `beneath` writes it; a str takes a third of a Path's memory
    member: str = ""  # the name inside the archive
    origin: Origin = Origin()

    @property
    def path(self) -> Path:
        """The path of the file, or of the archive that holds it."""
        return Path(self.place)

    @property
    def shown(self) -> str:
        """The place of the file, as one harmless line."""
        return label(f"{self.path}:{self.member}" if self.member else str(self.path))

    @property
    def filename(self) -> str:
        """The name of the file that was handed in, without the place of the download."""
        return label(os.path.basename(self.member or self.place))

    def below(self, folder: Path) -> str:
        """The place of the file in this folder, as one harmless line."""
        place = os.path.relpath(self.place, folder)
        return label(f"{place}:{self.member}" if self.member else place)

    def content(self) -> bytes:
        """The bytes of a file that is in no archive of a student's. Raises BadSubmission or NoSuchFile."""
        if self.member:
            from grader.classroom.intake import archives

            return archives.content(self.place, self.member)
        return beneath.read(self.place, safe_files.limit_of(self.place))

    def read(self) -> Submission:
        """The submission. Raises BadSubmission or NoSuchFile."""
        if self.member:
            from grader.classroom.intake import archives

            return self._with_note(archives.read(self.place, self.member))
        name = os.path.basename(self.place)
        data = beneath.read(self.place, safe_files.limit_of(name))
        return self._with_note(submission.decode(data, label(name), safe_files.is_notebook(name)))

    @property
    def read_as(self) -> str:
        """A sentence on a name that is read as another one, x.py.txt as x.py; "" where the name is as it should be."""
        found = safe_files.appended(os.path.basename(self.member or self.place))
        if found is None:
            return ""
        ending, code = found
        return f"{READ_AS} {label(ending)}, so it was read as .{code}. Call it .{code} next time."

    def _with_note(self, found: Submission) -> Submission:
        return replace(found, notes=(*found.notes, self.read_as)) if self.read_as else found


@dataclass(frozen=True)
class Misplaced:
    """A file that no student or exercise could be found for, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Passed:
    """Files of one place that are not graded: refused, or left out for a reason that needs no person.

    key: of the student's entry, "" for nobody's; student: whose they are, where that is known; files: how many.
    """

    where: str
    reason: str
    key: str = ""
    student: Student | None = None
    refused: bool = False
    files: int = 1
    origin: Origin = Origin()

    @property
    def shown(self) -> str:
        """Whose the files are, where, and why they have no mark, as one harmless line."""
        return label(f"{self.student.label if self.student else 'nobody known'}: {self.where}: {self.reason}")


@dataclass(frozen=True)
class Unplaced:
    """A student whose files could not be placed. why: of the first one; origin: of the student's entry.

    exercise: the one that is missing because of it; "": none of the student's files could be placed, or one of several:
    then `lacks` has the exercises that the student lacks and others handed in.
    """

    student: Student
    why: str
    origin: Origin = Origin()
    exercise: str = ""
    lacks: frozenset[str] = frozenset()

    @property
    def note(self) -> str:
        """The sentence in the student's row."""
        return f"{self.exercise[:2]}{': ' * bool(self.exercise)}not placed: {self.why}"

    @property
    def shown(self) -> str:
        """What is missing, and why, as one harmless line."""
        who = self.student.label
        if self.exercise:
            return label(f"{self.exercise[:2]} of {who}: {self.why}")
        what = f"one hand-in of {who} could not be placed" if self.lacks else f"nothing of {who} could be placed"
        return label(f"{what}: {self.why}")


@dataclass(frozen=True)
class NeedsPerson:
    """Entries whose names do not say to which student they belong. None of them is graded.

    who: the students in question, as the names give them; where: the entries, below the class's folder; files: how
    many there are.
    """

    who: tuple[str, ...]
    where: tuple[str, ...]
    why: str
    to_do: str
    files: int


@dataclass(frozen=True)
class Count:
    """The number of files in a folder of submissions by outcome; `found` is the sum of the numbers below it.

    A folder is not counted, nor is an archive that was opened: its members are. left_out: by reason.
    """

    found: int = 0
    to_grade: int = 0
    refused: int = 0
    needs_person: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)
    complete: bool = True  # False: there are more than could be counted


@dataclass(frozen=True)
class Found:
    """The content of a folder of submissions. layout: a sentence on the layout that was recognized."""

    layout: str
    handins: tuple[HandIn, ...]
    misplaced: tuple[Misplaced, ...] = ()
    needs_person: tuple[NeedsPerson, ...] = ()
    count: Count = Count()
    unplaced: tuple[Unplaced, ...] = ()
    enrolled: tuple[Student, ...] = ()  # all on the roster, where there is one
    passed: tuple[Passed, ...] = ()  # every other file

    def narrow_lacks(self) -> "Found":
        """The same once it is known whose each file is. A student without any placed file lacks more than a few."""
        placed = {handin.student for handin in self.handins}
        unplaced = (one if one.student in placed else replace(one, lacks=frozenset()) for one in self.unplaced)
        return replace(self, unplaced=tuple(unplaced))

    @property
    def students(self) -> tuple[Student, ...]:
        """All who have a row, sorted: who handed in something, placed or not, and who is on the roster."""
        students = {handin.student for handin in self.handins}
        return tuple(sorted(students.union(self.enrolled, (unplaced.student for unplaced in self.unplaced))))

    def facts(self) -> dict[str, Any]:
        """The facts of the event "found" of a run."""
        return {
            "layout": self.layout,
            "students": len(self.students),
            "handins": len(self.handins),
            "files": self.count,
            "misplaced": self.misplaced,
            "needs_person": self.needs_person,
            "unplaced": self.unplaced,
        }


@dataclass(frozen=True)
class Graded:
    """The result of one hand-in."""

    student: Student
    result: ExerciseResult


@dataclass(frozen=True)
class Class:
    """A whole class: every student, the exercises graded, and the results there are."""

    students: tuple[Student, ...]
    exercises: tuple[str, ...]  # folders, in order
    results: dict[tuple[str, str], ExerciseResult] = field(default_factory=dict)  # by (student id, exercise folder)

    def of(self, student: Student) -> Iterator[ExerciseResult]:
        """The student's results in the order of the exercises; what was not handed in is left out."""
        for exercise in self.exercises:
            if (student.id, exercise) in self.results:
                yield self.results[student.id, exercise]


def sum_line(count: Count, graded: str = "to grade", ungraded: int = 0) -> str:
    """One sentence with the number of files by outcome. ungraded: the files to grade that could not be graded."""
    parts = [f"{count.to_grade - ungraded:,} {graded}"]
    parts += [f"{ungraded:,} could not be graded"] if ungraded else []
    parts += [f"{count.refused:,} refused"]
    parts += [f"{count.needs_person:,} {'needs' if count.needs_person == 1 else 'need'} a person"] * bool(
        count.needs_person
    )
    reasons = "; ".join(f"{files:,} {reason}" for reason, files in count.left_out.items())
    left_out = sum(count.left_out.values())
    parts += [f"{left_out:,} left out ({reasons})" if reasons else "none left out"]
    many = "" if count.complete else "at least "
    return f"{many}{count_in_words(count.found, 'file')} found: {', '.join(parts)}."


def lines_of_doubt(needing: Sequence[NeedsPerson], limit: int) -> Iterator[str]:
    """The entries in need of a person, for a terminal."""
    for need in needing[:limit]:
        yield f"  needs a person: {listed(need.where, 4)}: {need.why}"
        yield f"    what to do: {need.to_do}"
    if len(needing) > limit:
        yield f"  … and {len(needing) - limit:,} more that need a person: all are in class.html and the log."


def listed(names: Sequence[str], limit: int) -> str:
    """At most `limit` names, and how many more there are."""
    return ", ".join(names[:limit]) + (f" and {len(names) - limit:,} more" if len(names) > limit else "")


def count_in_words(count: int, noun: str, plural: str = "") -> str:
    """A number of things in words: "1 grading", "1,200 gradings"."""
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"
