"""Joins what one person handed in for several Moodle assignments, where there is no roster.

The number in the name of a file belongs to the assignment, so one person has several. Without a roster only the full
name tells that they are one: it counts where each assignment has it at most once.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import replace

from grader.classroom.handins import Found, Student
from grader.classroom.intake.claims import likeness

MOODLE = "Moodle"


def joined(found: Found, past: Mapping[Student, Collection[str]]) -> tuple[Found, int]:
    """The hand-ins with one student for each full name, and how many numbers were joined to another one.

    past: the students of earlier runs, with the exercises that they handed in; who is among them keeps that id.
    """
    exercises: dict[str, dict[Student, set[str]]] = defaultdict(lambda: defaultdict(set))  # by full name and student
    for handin in found.handins:
        if handin.origin.platform == MOODLE:
            exercises[likeness(handin.student.name)][handin.student].add(handin.exercise)
    earlier: dict[str, list[Student]] = defaultdict(list)
    for student in past:
        earlier[likeness(student.name)].append(student)
    joined_to: dict[Student, Student] = {}
    for name, by_student in exercises.items():
        before = [student for student in earlier[name] if student.id.isdigit()]
        exercises_by_student = dict(by_student) | {
            past_student: past[past_student] for past_student in before if past_student not in by_student
        }
        handed_in = [exercise for folders in exercises_by_student.values() for exercise in folders]
        if name and len(handed_in) == len(set(handed_in)) and len(before) <= 1:  # else two people have this name
            first = before[0] if before else min(by_student, key=lambda student: int(student.id))
            joined_to |= {student: first for student in by_student if student.id != first.id}
    handins = [replace(handin, student=joined_to.get(handin.student, handin.student)) for handin in found.handins]
    handins.sort(key=lambda handin: (handin.student.id, handin.exercise))
    unplaced = tuple(
        replace(past_student, student=joined_to.get(past_student.student, past_student.student))
        for past_student in found.unplaced
    )
    return replace(found, handins=tuple(handins), unplaced=unplaced), len(joined_to)
