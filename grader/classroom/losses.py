"""The rows and hand-ins that a run would remove. None is removed unless the instructor confirms it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from grader.classroom.handins import Found, Student
from grader.classroom.intake import tally
from grader.records.sanitize import label

MOST = 8  # names in the message


@dataclass(frozen=True)
class Losses:
    """The rows and hand-ins that a run would remove. students: their ids; handins: (student's id, exercise)."""

    students: tuple[str, ...] = ()
    handins: tuple[tuple[str, str], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.students or self.handins)


def of(
    earlier: Mapping[Student, Collection[str]], found: Found, replaced: Collection[str], named: bool, roster: bool
) -> Losses:
    """The rows and hand-ins that a run would remove.

    earlier: everybody in the class, with the exercises that they handed in; replaced: the exercises that the run enters
    anew; named: the instructor named them; roster: the class is that of a roster.
    """
    unsure = {person for need in found.needs_person for person in need.who}  # they keep their row, and have no mark
    current_ids = {student.id for student in found.students}
    unplaced = {(one.student.id, one.exercise) for one in found.unplaced}  # exercise "": all of this student's
    handed_in = {(handin.student.id, handin.exercise) for handin in found.handins} | unplaced
    students, handins = [], []
    for student, exercises in earlier.items():
        stays = named and not roster and (not exercises or not set(exercises) <= set(replaced))
        if student.id not in current_ids | unsure and not stays:
            students.append(student.id)
        elif student.id not in unsure and (student.id, "") not in unplaced:
            replaced_exercises = (exercise for exercise in sorted(exercises) if exercise in replaced)
            handins += [
                (student.id, exercise) for exercise in replaced_exercises if (student.id, exercise) not in handed_in
            ]
    return Losses(tuple(students), tuple(handins))


def message(losses: Losses, submissions: str, out: str) -> str:
    """The message to the instructor where the run was refused."""
    lines = ["Nothing was changed, because this run would take something away:"]
    if losses.students:
        names = label(tally.listed(losses.students, MOST))
        lines.append(f"  {tally.counted(len(losses.students), 'student')} would lose their row: {names}")
    if losses.handins:
        names = label(tally.listed([f"{student} {exercise}" for student, exercise in losses.handins], MOST))
        lines.append(f"  {tally.counted(len(losses.handins), 'hand-in')} would be lost: {names}")
    lines += [
        f"Is {label(submissions)} the right folder? It must hold what everybody handed in so far.",
        "  several downloads: put them into one folder",
        "  one assignment alone: name its exercise, EX=03     everybody keeps a row: ROSTER=file",
        f"  they left, or withdrew it: DROP=yes, which moves the pages of who left to {label(out)}/left/",
    ]
    return "\n".join(lines)
