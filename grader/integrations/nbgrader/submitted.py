"""The submissions of an nbgrader course that wait for grading, and the released cells of their notebook."""

import os
import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from glob import glob
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.apps import AutogradeApp
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import parse_utc

from grader.catalog import paths
from grader.catalog.errors import BadSubmission, NoSuchFile, WrongUse
from grader.classroom.arrivals import MAX_TIMESTAMP, TIMESTAMP
from grader.classroom.handins import HandIn, Origin, Student
from grader.classroom.intake import beneath, tally
from grader.integrations.nbgrader import preprocessors
from grader.integrations.nbgrader.cells import Cell, learners_notebook, released
from grader.records import regular_file
from grader.records.sanitize import label
from grader.records.submission import Submission

MOST_NAMED = 3  # notebooks of a folder that holds no notebook of the assignment


@dataclass(frozen=True, slots=True)
class NotebookHandIn(HandIn):
    """A submitted notebook. Only its cells that are not locked in the gradebook are graded."""

    cells: tuple[Cell, ...] = ()

    def read(self) -> Submission:
        """The submission. Raises BadSubmission or NoSuchFile."""
        return learners_notebook(beneath.read(self.place, regular_file.MAX_NOTEBOOK), self.cells, self.path.name)


def open_app(course: Path, assignment: str, db_url: str | None) -> AutogradeApp:
    """nbgrader's application with the settings of a course, for one assignment. Raises WrongUse where there is none."""
    root = Path(course).resolve()
    if not (root / "nbgrader_config.py").is_file():
        raise WrongUse(
            f"{paths.shown(root)} is no course: it has no nbgrader_config.py. First: make nbgrader COURSE=dir"
        )
    app = AutogradeApp()
    app.initialize([f"--course-dir={root}", "--log-level=CRITICAL"])
    app.coursedir.assignment_id = assignment
    if db_url:
        app.coursedir.db_url = db_url
    return app


def settings_of(course: Path) -> dict[str, Any]:
    """The course's settings of `c.GradeInSandbox`: seed, device, timeout, tier, accept_tier, as far as they are set."""
    config = open_app(course, "", None).config.get("GradeInSandbox", {})
    return {name: value for name, value in config.items() if name in preprocessors.GradeInSandbox.class_trait_names()}


def released_notebook(app: AutogradeApp) -> tuple[str, tuple[Cell, ...]]:
    """The name of the assignment's notebook and its released cells.

    Raises WrongUse where the gradebook does not have exactly one notebook.
    """
    name = app.coursedir.assignment_id
    with Gradebook(app.coursedir.db_url, app.coursedir.course_id) as gradebook:
        try:
            notebooks = [notebook.name for notebook in gradebook.find_assignment(name).notebooks]
        except MissingEntry:
            notebooks = []
        if not notebooks:
            raise WrongUse(f"The gradebook knows no assignment {name}. First: nbgrader generate_assignment {name}")
        if len(notebooks) > 1:
            raise WrongUse(f"{name} has {len(notebooks)} notebooks, which this cannot grade: nbgrader autograde {name}")
        return notebooks[0], released(gradebook, notebooks[0], name)


def waiting(app: AutogradeApp, force: bool = False, again: Collection[str] = ()) -> list[HandIn]:
    """The submissions that autograde would grade now: new ones and later versions.

    force: all; again: students whose submission is recorded anew in any case.

    Raises WrongUse where nothing was submitted.
    """
    directory, assignment = app.coursedir, app.coursedir.assignment_id
    notebook, cells = released_notebook(app)
    exercise = preprocessors.exercise_of(notebook)
    pattern = _pattern(app)
    submitted = folders(app)
    if not submitted:
        raise WrongUse(f"No submission lies in {pattern}. Collect them: nbgrader collect {assignment}")
    return [
        NotebookHandIn(
            Student(id),
            exercise.folder,
            _place(pattern, folder, f"{notebook}.ipynb"),
            origin=Origin("nbgrader", id, os.path.basename(folder)),
            cells=cells,
        )
        for id, folder in submitted.items()
        if Path(folder, f"{notebook}.ipynb").exists()
        and not _reason_to_refuse(id, folder)
        and (force or id in again or not _is_graded(directory, folder, id))
    ]


def refused(app: AutogradeApp) -> dict[str, str]:
    """The students whose submission is not graded, each with the reason.

    Their folder would end a run of nbgrader for all others, or does not hold the assignment's notebook.
    """
    name = f"{released_notebook(app)[0]}.ipynb"
    reasons = {id: _reason_to_refuse(id, folder) or _missing(folder, name) for id, folder in folders(app).items()}
    return {id: reason for id, reason in reasons.items() if reason}


def folders(app: AutogradeApp) -> dict[str, str]:
    """The submitted folder of each student who handed in the assignment."""
    directory, assignment = app.coursedir, app.coursedir.assignment_id
    student = directory.format_path(directory.submitted_directory, "(?P<student>[^/]+)", assignment, escape=True)
    matches = {folder: re.fullmatch(student, folder) for folder in sorted(glob(_pattern(app)))}
    return {match["student"]: folder for folder, match in matches.items() if match}


def _pattern(app: AutogradeApp) -> str:
    """The pattern of the submitted folders of all students."""
    directory = app.coursedir
    pattern: str = directory.format_path(directory.submitted_directory, "*", directory.assignment_id)
    return pattern


def _reason_to_refuse(id: str, folder: str) -> str:
    """Why nbgrader would end at this student's folder, or ""."""
    if any(unicodedata.category(sign) in ("Cc", "Cs") for sign in id):
        return "the name of the folder holds a control character, or is not UTF-8: rename it to the student's id"
    place = beneath.place(os.path.dirname(folder), os.path.basename(folder), TIMESTAMP)
    try:
        text = beneath.read(place, MAX_TIMESTAMP).decode().strip()
        if text:
            parse_utc(text)
    except NoSuchFile:
        pass
    except (BadSubmission, ValueError, ArithmeticError, TypeError) as error:
        return f"{TIMESTAMP} holds no time ({error}): remove it, or write the time into it"
    return ""


def _missing(folder: str, name: str) -> str:
    """What is in a student's folder where it does not hold the assignment's notebook; "" where it does."""
    try:
        entries = sorted(os.listdir(folder))
    except OSError as error:
        return f"the folder cannot be read: {error.strerror}"
    if name in entries:
        return ""
    notebooks = [entry for entry in entries if regular_file.is_notebook(entry)]
    if not notebooks:
        return f"the folder holds no {name}"
    return f"the folder holds {label(tally.listed(notebooks, MOST_NAMED))} and no {name}: rename the right one"


def _place(pattern: str, folder: str, name: str) -> str:
    """The place of a student's notebook. Below the folder of all students no link is followed."""
    students = os.path.dirname(pattern.partition("*")[0] + "*")
    return beneath.place(students, *os.path.relpath(folder, students).split(os.sep), name)


def _is_graded(directory: CourseDirectory, folder: str, student: str) -> bool:
    """Whether autograde would skip this submission, because it is autograded and has not been submitted again."""
    graded = directory.format_path(directory.autograded_directory, student, directory.assignment_id)
    if not os.path.exists(graded):
        return False
    submitted_time, graded_time = directory.get_existing_timestamp(folder), directory.get_existing_timestamp(graded)
    return submitted_time is None or graded_time is None or submitted_time <= graded_time
