"""ledger.csv: what became of every file that was handed in, and of whom a person must still think."""

import csv
import io
import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from grader.classroom.grades import cell, number
from grader.classroom.handins import Found, HandIn, Student, Unplaced
from grader.classroom.history import Given, Waiting
from grader.records.sanitize import label

LEDGER = "ledger.csv"
TITLES = ("file", "files", "student", "name", "exercise", "outcome", "points", "reason")
GRADED, UNGRADED, PERSON = "graded", "not graded", "needs a person"
REFUSED, LEFT_OUT = "refused", "left out"
EARLIER = "from an earlier download"


@dataclass(frozen=True)
class Account:
    """One line of the ledger. files: how many the entry holds, 0 where its files stand in another line."""

    file: str
    files: int
    student: Student | None
    exercise: str
    outcome: str
    points: float | None = None
    reason: str = ""


def accounts(
    found: Found,
    folder: Path,
    given: Mapping[tuple[str, str], Given],
    troubles: Mapping[tuple[str, str], str],
    of_term: Iterable[HandIn],
) -> Iterator[Account]:
    """A line for each file of this download, and for each hand-in of an earlier one that still counts.

    folder: of the download; given: the marks; troubles: why there is no mark; of_term: the hand-ins of all runs.
    """

    def of_handin(handin: HandIn, files: int, remark: str = "") -> Account:
        key = handin.student.id, handin.exercise
        outcome = UNGRADED if key in troubles else GRADED
        points = given[key].points if key in given else None
        reason = "; ".join(filter(None, (troubles.get(key, ""), handin.read_as, remark)))
        return Account(_file(handin, folder), files, handin.student, handin.exercise, outcome, points, reason)

    seen: set[tuple[str, str]] = set()
    for handin in found.handins:
        file = handin.place, handin.member
        yield of_handin(handin, int(file not in seen))  # a group hands in one file
        seen.add(file)
    for need in found.needs_person:
        who = Student(need.who[0]) if len(need.who) == 1 else None
        for index, where in enumerate(need.where):
            yield Account(where, 0 if index else need.files, who, "", PERSON, None, f"{need.why}. {need.to_do}")
    for unplaced in found.unplaced:
        yield Account("", 0, unplaced.student, unplaced.exercise, PERSON, None, unplaced.why)
    for passed in found.passed:
        outcome = REFUSED if passed.refused else LEFT_OUT
        yield Account(passed.where, passed.files, passed.student, "", outcome, None, passed.reason)
    current = {(handin.student.id, handin.exercise) for handin in found.handins}
    for handin in of_term:
        if (handin.student.id, handin.exercise) not in current:
            earlier = of_handin(handin, 0, EARLIER)
            yield replace(earlier, file=label(os.path.basename(handin.member or handin.place)))


def table(lines: Iterable[Account]) -> str:
    """The lines as CSV, those that need a person first."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(TITLES)
    order = {PERSON: 0, UNGRADED: 1}
    for one in sorted(lines, key=lambda one: (order.get(one.outcome, 2), one.file, one.student or Student(""))):
        who = (one.student.id, one.student.name) if one.student else ("", "")
        texts = [one.file, str(one.files), *who, one.exercise, one.outcome, number(one.points), one.reason]
        writer.writerow(map(cell, texts))
    return text.getvalue()


def still_waiting(
    waiting: Iterable[Waiting],
    found: Found,
    handed_in: Mapping[Student, Collection[str]],
    set_by_hand: Collection[tuple[str, str]],
) -> list[Waiting]:
    """What earlier downloads left open: files that could not be placed, of which nothing better came since.

    handed_in: of all runs; set_by_hand: (student's id, exercise) for which a person gave points.
    """
    done = {(student.id, exercise) for student, exercises in handed_in.items() for exercise in exercises}
    done |= {(handin.student.id, handin.exercise) for handin in found.handins} | set(set_by_hand)
    now = {(one.student.id, one.exercise) for one in found.unplaced}
    class_ids = {student.id for student in found.enrolled}
    still = []
    for entry in waiting:
        id, exercise = entry.unplaced.student.id, entry.unplaced.exercise
        exercises = [exercise] if exercise else entry.among
        is_done = any((id, one) in done for one in exercises) if exercises else any(id == who for who, _ in done)
        if not (is_done or (id, exercise) in now or (class_ids and id not in class_ids)):
            still.append(entry)
    return still


def waiting_lines(found: Found) -> tuple[str, ...]:
    """The entries for which a person is needed, one line each."""
    needs = (label(f"{', '.join(need.where)}: {need.why}") for need in found.needs_person)
    return (*(one.shown for one in found.unplaced), *needs)


def remembered(found: Found, exercises: Iterable[str], still: Iterable[Waiting]) -> list[Waiting]:
    """What the next run must know: the files that could not be placed now, and those that still wait."""
    among = tuple(exercises)
    kept = {(one.unplaced.student.id, one.unplaced.exercise) for one in still}
    new = [one for one in found.unplaced if (one.student.id, one.exercise) not in kept]
    return [*still, *(Waiting(_plain(one), among) for one in new)]


def _plain(unplaced: Unplaced) -> Unplaced:
    """The same without what its platform calls the student, which another download need not share."""
    return Unplaced(unplaced.student, unplaced.why, exercise=unplaced.exercise)


def _file(handin: HandIn, folder: Path) -> str:
    """The place of a file in the download."""
    place = handin.below(folder)
    return place.removeprefix(".:")
