"""Applies the rules of a course to the results of a run, one student after the other, and notes what changed."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

from grader.classroom import changes, office, pseudonyms
from grader.classroom.changes import Change
from grader.classroom.course.standing import Standing
from grader.classroom.handins import Found, Student
from grader.classroom.history import Given, History
from grader.classroom.office import Office
from grader.classroom.past import Past, run, stuck
from grader.classroom.roster import filling
from grader.classroom.store import Store
from grader.classroom.summary import Summary
from grader.records import containment
from grader.records.results import ExerciseResult
from grader.records.sanitize import label

MOST = 10  # lines about conflicts


class Marking:
    """The marks of one run. notes: lines about what a person must look at."""

    def __init__(self, own_office: Office, store: Store, history: History, found: Found) -> None:
        self.office, self.store, self.history = own_office, store, history
        self.unplaced: dict[str, list[str]] = defaultdict(list)  # lines about files that could not be placed, by id
        for unplaced in found.unplaced:
            self.unplaced[unplaced.student.id].append(unplaced.note)
        self.given: dict[tuple[str, str], Given] = {}
        self.notes: list[str] = []

    def standing(self, student: Student, results: Sequence[ExerciseResult]) -> Standing:
        """The standing of one student by the rules. results: those of the latest hand-ins."""
        marks = office.marks(self.office, self.store, self.history, student, results)
        for exercise, mark in marks.items():
            self.given[student.id, exercise] = office.given(mark)
        for exercise in office.conflicts(marks):
            self.notes.append(f"{label(student.id)} {exercise}: {office.CHANGED}")
        comments = {
            exercise: text for (student_id, exercise), text in self.office.comments.items() if student_id == student.id
        }
        return Standing(marks, comments, tuple(self.unplaced.get(student.id, ())), self.office.rule)

    def finish(self, out: Path) -> tuple[Change, ...]:
        """Remember the marks, and write what changed since the last run. The first run has no changes."""
        before = self.history.marks()
        for key in self.store.troubles().keys() & before.keys() - self.given.keys():
            self.given[key] = replace(before[key], points=None)  # it is the same hand-in when it is graded again
        changed = changes.between(before, self.given) if before else ()
        if changed:
            containment.optional(changes.NAME, None, changes.append, out / changes.NAME, changed)
        self.history.note([(student, exercise, given) for (student, exercise), given in self.given.items()])
        return changed

    def pseudonyms(self, out: Path) -> Callable[[Summary], Mapping[str, Student]]:
        """A function that gives the students of a summary their pseudonyms."""
        return lambda summary: pseudonyms.of(out / pseudonyms.NAME, [row.student for row in summary.rows])

    def past(self, summary: Summary) -> Past:
        """The facts about this run and earlier ones that the page of the class shows."""
        runs, current_run = self.history.runs(), run(summary, datetime.now(timezone.utc))
        if not runs or runs[-1].facts != current_run.facts:
            self.history.add_run(current_run)
            runs = [*runs, current_run]
        return Past(stuck(self.history.repeated(), self.store.result), runs)

    def filled(self, out: Path, summary: Summary) -> tuple[str, ...]:
        """Write the roster's files with the points filled in. Returns lines about them."""
        if self.office.roster is None:
            return ()
        return filling.write(out / filling.FOLDER, self.office.roster, self.office.course.columns, summary)
