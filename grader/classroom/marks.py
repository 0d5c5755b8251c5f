"""The list that goes through the five steps of a run: a Mark for each hand-in, and for each file without a mark."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from grader.classroom.handins import HandIn, Student
from grader.records.sanitize import label

GRADED, NOT_BEGUN, PERSON, NOTHING = "graded", "not begun", "needs a person", "nothing handed in"
LEFT_OUT = "left out"
RANK = {PERSON: 0, LEFT_OUT: 2}  # of the lines in marks.csv; 1 for all others


@dataclass(frozen=True, slots=True)
class Mark:
    """A line of marks.csv: what became of a file, or of a student's exercise.

    student None: nobody knows whose the file is; file: its place, as names.csv calls it; note: why there is no mark;
    to_do: what to write or do about it; points: None if there is no mark; content, key: of source and result in the
    store.
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
