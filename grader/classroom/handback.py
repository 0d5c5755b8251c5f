"""Hands feedback back as a platform takes it. Nothing is handed back before the instructor releases it.

Rule, as it is in mod/assign/feedback/file/importziplib.php: each part of a path is split at the first four
underscores into name, number, plugin type and plugin; the number must be one of the assignment's participants, the
plugin one that exists, the name is not looked at. What follows is the name of the feedback file, which may not begin
with "." or "~". A file of the same name is replaced. So the submission's folder comes back with the feedback in it.

Rules, as they stand in canvas-lms (lib/content_zipper.rb, generate_comments_from_files in the assignment's model): of a
file's name the first number between underscores is the user and the second one an attachment of that user's submission.
The file becomes an attachment of a comment, and is shown under the name that the student gave the submitted file. So
it has that kind: of a .py file it is Python with nothing but comments, of a notebook a notebook, of an archive a zip.
Each upload adds a comment: upload once.
"""

import io
import json
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path

from grader import catalog
from grader.catalog.errors import WrongUse
from grader.classroom.course_rules import TOTAL, Course
from grader.classroom.grades import number
from grader.classroom.handins import Found, Origin, Student
from grader.classroom.history import History
from grader.classroom.intake.names import CANVAS, MOODLE
from grader.classroom.marking import Standing, joined_rule
from grader.classroom.office import Marking, Office
from grader.classroom.outputs import by_student, counting
from grader.classroom.pages import feedback
from grader.classroom.pages.feedback import limit
from grader.classroom.store import Store
from grader.records.results import ExerciseResult, outcome_word
from grader.reports import json as as_json

FOLDER = "handback"  # in the results
WIDEST = 200  # characters of a line
NOTEBOOK = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}}


@dataclass(frozen=True)
class Handed:
    """One student's results. origins: the entry with which each exercise was handed in; ungraded: see feedback.page."""

    student: Student
    results: tuple[ExerciseResult, ...]
    standing: Standing
    origins: dict[str, Origin]
    ungraded: dict[str, str]

    def alone(self, assignment: "Assignment") -> "Handed | None":
        """The part about one assignment; None where the student handed in nothing for it."""
        own = assignment.exercises
        results = tuple(result for result in self.results if result.exercise in own and result.exercise in self.origins)
        if not results:
            return None
        marks = {folder: mark for folder, mark in self.standing.marks.items() if folder in own}
        comments = {folder: text for folder, text in self.standing.comments.items() if folder in ("", *own)}
        rule = joined_rule(self.standing.rule.weights, own)
        standing = Standing(marks, comments, self.standing.notes, rule, self.standing.unplaced)
        return replace(self, results=results, standing=standing, ungraded={})

    @property
    def origin(self) -> Origin:
        """The entry with which the first of the results was handed in."""
        return self.origins[self.results[0].exercise]


@dataclass(frozen=True)
class Assignment:
    """An assignment of a platform, with one exercise or several."""

    exercises: tuple[str, ...]

    @property
    def name(self) -> str:
        """Its name in names of files: that of its exercise, or the numbers of several."""
        return self.exercises[0] if len(self.exercises) == 1 else "_".join(folder[:2] for folder in self.exercises)


@dataclass(frozen=True)
class File:
    """One file of an archive."""

    name: str
    content: str | bytes


def demand(course: Course, now: bool) -> None:
    """Raise WrongUse where nothing may be handed back yet. now: the instructor releases it."""
    if now or (course.release is not None and course.release <= datetime.now(timezone.utc)):
        return
    when = f"It is released at {course.release:%Y-%m-%d %H:%M}, as course.toml says" if course.release else "Nothing is"
    raise WrongUse(f"{when}{'' if course.release else ' released yet'}. To hand back now: RELEASE=yes")


def read_results(out: Path, own_office: Office) -> Iterator[Handed]:
    """Everybody in a folder of results, one student after the other. Raises WrongUse where there are no results."""
    file = Store.existing(out)
    try:
        history = History(file)
        waiting = tuple(one.unplaced for one in history.waiting())
        marking = Marking(own_office, file, history, Found("", (), unplaced=waiting))
        troubles = by_student(file.troubles())
        for student, results in file.students():
            standing = marking.standing(student, results)
            counted = tuple(counting(result, standing) for result in results)
            origins = {exercise: attempts[-1].origin for exercise, attempts in history.of(student.id).items()}
            yield Handed(student, counted, standing, origins, troubles.get(student.id, {}))
    finally:
        file.close()


def assignments(course: Course, all_handed: Sequence[Handed]) -> list[Assignment]:
    """The assignments of which something was handed in. Exercises of one column in course.toml are one assignment."""
    joined: dict[str, tuple[str, ...]] = {}
    for column in course.columns.values():
        if column != (TOTAL,) and not any(folder in joined for folder in column):
            joined |= dict.fromkeys(column, tuple(sorted(column)))
    groups = (joined.get(folder, (folder,)) for folder in exercises(all_handed))
    return [Assignment(group) for group in dict.fromkeys(groups)]


def exercises(all_handed: Sequence[Handed]) -> list[str]:
    """The exercises of which something was handed in."""
    return sorted({result.exercise for handed in all_handed for result in handed.results})


def level(out: Path, course: Course, requested_level: str | None) -> str:
    """The level of feedback: the requested one, else that of course.toml, else that of the last run."""
    file = Store(out)
    try:
        return requested_level or course.feedback or file.fact("level", "full")
    finally:
        file.close()


def spoken_lines(handed: Handed, exercises: Sequence[str], level: str) -> Iterator[str]:
    """The lines. handed: the student's results for these exercises alone."""
    results = {result.exercise: handed.standing.shown(result) for result in handed.results}
    if comment := handed.standing.comments.get(""):
        yield from _wrap(comment, "")
        yield ""
    if len(exercises) > 1:
        yield feedback.points_line(handed.results, exercises, handed.standing)
        yield ""
    for number_of, folder in enumerate(exercises):
        if number_of:
            yield ""
        if folder in results:
            yield from _about(handed.standing, results[folder], level)
        else:
            why = handed.standing.unplaced.get(folder)
            said = f"not graded: {why}" if why else "nothing handed in"
            yield from _wrap(f"Feedback on {folder[:2]} {catalog.find(folder).title}: {said}", "")


def moodle_file(handed: Handed, assignment: Assignment, level: str) -> File | None:
    """The feedback of one student on one assignment; None where Moodle did not name the entry."""
    folder = _folder(handed.origin.name)
    if folder is None:
        return None
    page = feedback.page(handed.student, handed.results, assignment.exercises, level, None, handed.standing)
    return File(f"{folder}/feedback_{assignment.name}.html", page)


def canvas_file(handed: Handed, assignment: Assignment, level: str) -> File | None:
    """The feedback of one student on one assignment, under the name of the first file; None if Canvas did not name it.

    One file, whatever the number of exercises: each upload is one comment.
    """
    name = handed.origin.name
    return File(name, _content(name, handed, assignment, level)) if CANVAS.fullmatch(name) else None


def zip_files(files: Sequence[File]) -> bytes:
    """A zip archive: the same files give the same bytes."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            archive.writestr(zipfile.ZipInfo(file.name), file.content, zipfile.ZIP_DEFLATED)
    return data.getvalue()


def folder_files(all_handed: Sequence[Handed], exercises: Sequence[str], level: str) -> Iterator[File]:
    """Each student's page with all exercises."""
    for handed in all_handed:
        page = feedback.page(handed.student, handed.results, exercises, level, handed.ungraded, handed.standing)
        yield File(f"{handed.student.id}/feedback.html", page)


def _about(standing: Standing, result: ExerciseResult, level: str) -> Iterator[str]:
    """The lines on one exercise."""
    folder = result.exercise
    record = limit(as_json.record(result), level)
    points = standing.points(folder, result.points)
    yield f"Feedback on {folder[:2]} {result.title}: {number(points, '–')} of {number(result.max_points)} points"
    mark = standing.marks.get(folder)
    comment = standing.comments.get(folder, "")
    for text in (*(mark.words if mark else ()), comment, record.get("message") or ""):
        yield from _wrap(text, "")
    for check in record["checks"]:
        yield ""
        points_of_check = f"{number(check['points'])}/{number(check['max_points'])}"
        yield f"{outcome_word(check['outcome'], check['points'])}: {check['title']} ({points_of_check})"
        yield from _wrap(check.get("message") or "", "  ")
        if check.get("diagnosis"):
            yield from _wrap(f"likely: {check['diagnosis']}", "  ")
        yield from _wrap(check.get("where") or "", "  ")


def _wrap(text: str, indent: str) -> Iterator[str]:
    """Each line of a text, none too long."""
    for line in text.splitlines():
        while line:
            yield indent + line[:WIDEST]
            line = line[WIDEST:]


def _folder(entry: str) -> str | None:
    """The submission's folder, from the name of the downloaded entry; None where Moodle did not name it."""
    match = MOODLE.fullmatch(entry)
    if not match:
        return None
    name = match["name"].strip()
    safe = name if name and "_" not in name and name.isprintable() and name[0] not in ".~" else "Participant"
    return f"{safe}_{match['id']}_assignsubmission_file_"


def _content(name: str, handed: Handed, assignment: Assignment, level: str) -> str | bytes:
    """The feedback as a file of the kind that this name says."""
    lines = list(spoken_lines(handed, assignment.exercises, level))
    suffix = name.lower().rpartition(".")[2]
    if suffix == "ipynb":
        cell = {"cell_type": "markdown", "id": "feedback", "metadata": {}, "source": _fence(lines)}
        return json.dumps(NOTEBOOK | {"cells": [cell]}, indent=1) + "\n"
    if suffix in ("zip", "gz", "tgz"):
        page = feedback.page(handed.student, handed.results, assignment.exercises, level, None, handed.standing)
        return zip_files([File(f"feedback_{assignment.name}.html", page)])
    return "".join(f"# {line}".rstrip() + "\n" for line in lines)


def _fence(lines: Sequence[str]) -> str:
    """Lines as Markdown that shows them as they are."""
    return "\n".join(f"    {line}" for line in lines)


PLATFORMS = {"moodle": ("Moodle", moodle_file), "canvas": ("Canvas", canvas_file)}  # how an origin calls each
