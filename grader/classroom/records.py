"""The plain data of a class: students, what they handed in, and what came out."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from grader import submission
from grader.results import ExerciseResult
from grader.submission import Submission


@dataclass(frozen=True, order=True)
class Student:
    """One student, as the platform that the files came from names them. `id` names the folder of the results."""

    id: str
    name: str = ""


@dataclass(frozen=True)
class HandIn:
    """One file of one student for one exercise. Nothing is read before `read`, so that a large class stays small."""

    student: Student
    exercise: str  # "03_context_vectors"
    path: Path  # of the file, or of the archive that holds it
    member: str = ""  # the name inside the archive

    @property
    def shown(self) -> str:
        return f"{self.path}:{self.member}" if self.member else str(self.path)

    def read(self) -> Submission:
        """The submission. Raises submission.BadSubmission or NoSuchFile."""
        if self.member:
            from grader.classroom import archives

            return archives.read(self.path, self.member)
        return submission.read(self.path, own=False)


@dataclass(frozen=True)
class Misplaced:
    """A file that no student or exercise could be found for, and why."""

    path: str
    reason: str


@dataclass(frozen=True)
class Found:
    """What a folder of submissions holds. `layout` says in words how it was understood."""

    layout: str
    handins: tuple[HandIn, ...]
    misplaced: tuple[Misplaced, ...] = ()

    @property
    def students(self) -> tuple[Student, ...]:
        return tuple(sorted({handin.student for handin in self.handins}))


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
