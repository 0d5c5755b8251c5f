"""The notebooks of one assignment of a course, as hand-ins of a class.

`kata grade COURSE --assignment NAME` grades them in parallel into a folder of results in the course. nbgrader's own
`autograde` takes the results from there (see `preprocessors.GradeInSandbox`), so nothing here writes into a gradebook.
"""

import contextlib
import os
import re
from dataclasses import dataclass
from glob import glob
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.apps import AutogradeApp
from nbgrader.coursedir import CourseDirectory

from grader import catalog
from grader.catalog import NoSuchExercise, paths
from grader.catalog.errors import WrongUse
from grader.classroom.intake import beneath
from grader.classroom.marks import PERSON, Found, HandIn, Mark, Origin, Student, listed
from grader.integrations.nbgrader import preprocessors
from grader.integrations.nbgrader.cells import Cell, learners_notebook, released
from grader.records import safe_files
from grader.records.sanitize import label
from grader.records.submission import Submission

LAYOUT = "nbgrader's folder submitted/"
MOST_NAMED = 3  # notebooks of a folder that holds no notebook of the assignment
SQLITE = "sqlite:///"


@dataclass(frozen=True, slots=True)
class NotebookHandIn(HandIn):
    """A submitted notebook. Only its cells that are not locked in the gradebook are graded."""

    cells: tuple[Cell, ...] = ()

    def read(self) -> Submission:
        """The submission. Raises BadSubmission or NoSuchFile."""
        return learners_notebook(
            beneath.read(self.place, safe_files.MAX_NOTEBOOK), self.cells, os.path.basename(self.place)
        )


@dataclass(frozen=True)
class Submitted:
    """What was submitted for one assignment. folder: of all students; results: where autograde looks for results."""

    exercise: str
    folder: Path
    results: Path
    found: Found


def open_course(course: Path, assignment: str) -> AutogradeApp:
    """nbgrader's application with the settings of a course, for one assignment. Raises WrongUse if it is no course."""
    root = course.resolve()
    if not (root / "nbgrader_config.py").is_file():
        raise WrongUse(
            f"{paths.shown(root)} is no course: it has no nbgrader_config.py. First: make nbgrader COURSE=dir"
        )
    app = AutogradeApp()
    app.initialize([f"--course-dir={root}", "--log-level=CRITICAL"])
    app.coursedir.assignment_id = assignment
    return app


def settings(app: AutogradeApp) -> dict[str, Any]:
    """The course's settings of `c.GradeInSandbox` (seed, device, timeout, tier, accept_tier), if they are set."""
    own = app.config.get("GradeInSandbox", {})
    return {name: value for name, value in own.items() if name in preprocessors.GradeInSandbox.class_trait_names()}


def find(app: AutogradeApp) -> Submitted:
    """What was submitted for the assignment, and everybody who is in the gradebook.

    Raises WrongUse if the gradebook does not have exactly one notebook of an exercise, or nothing was submitted.
    """
    directory, assignment = app.coursedir, app.coursedir.assignment_id
    notebook, cells, names = _of_gradebook(directory)
    exercise = preprocessors.exercise_of(notebook).folder
    file = f"{notebook}.ipynb"
    pattern, folders = _pattern(directory), _folders(directory)
    if not folders:
        raise WrongUse(f"No submission lies in {pattern}. Collect them: nbgrader collect {assignment}")
    students = os.path.dirname(pattern.partition("*")[0] + "*")  # no link is followed below this folder
    found, misplaced = [], []
    for id, folder in folders.items():
        student, below = Student(label(id), names.get(id, "")), os.path.relpath(folder, students)
        if reason := _missing(folder, file):
            misplaced.append(Mark(PERSON, student, exercise, label(below), reason, f"rename the right one to {file}"))
        else:
            place = beneath.place(students, *below.split(os.sep), file)
            found.append(NotebookHandIn(student, exercise, place, origin=Origin("nbgrader", id, id), cells=cells))
    enrolled = tuple(Student(label(id), name) for id, name in names.items())
    return Submitted(
        exercise,
        Path(students),
        preprocessors.results_folder(Path(directory.root), assignment),
        Found(LAYOUT, tuple(found), tuple(misplaced), enrolled=enrolled),
    )


def _of_gradebook(directory: CourseDirectory) -> tuple[str, tuple[Cell, ...], dict[str, str]]:
    """The name of the assignment's notebook, its released cells, and the names of all students by id."""
    name, url = directory.assignment_id, directory.db_url
    remedy = f"The gradebook knows no assignment {name}. {_remedy(name)}"
    if url.startswith(SQLITE) and not os.path.exists(url.removeprefix(SQLITE)):  # nbgrader would make one
        raise WrongUse(remedy)
    with Gradebook(url, directory.course_id) as gradebook:
        try:
            notebooks = [notebook.name for notebook in gradebook.find_assignment(name).notebooks]
        except MissingEntry:
            notebooks = []
        if not notebooks:
            raise WrongUse(remedy)
        if len(notebooks) > 1:
            raise WrongUse(f"{name} has {len(notebooks)} notebooks, which this cannot grade: nbgrader autograde {name}")
        names = {one.id: " ".join(filter(None, (one.first_name, one.last_name))) for one in gradebook.students}
        return notebooks[0], released(gradebook, notebooks[0], name), names


def _remedy(name: str) -> str:
    """What to do if the gradebook has no assignment of this name, which may be the number of an exercise."""
    with contextlib.suppress(NoSuchExercise):
        if (folder := catalog.find(name).folder) != name:
            return f"Did you mean {folder}?"
    return f"First: nbgrader generate_assignment {name}"


def _folders(directory: CourseDirectory) -> dict[str, str]:
    """The submitted folder of each student who handed in the assignment."""
    name = directory.assignment_id
    student = directory.format_path(directory.submitted_directory, "(?P<student>[^/]+)", name, escape=True)
    matches = {folder: re.fullmatch(student, folder) for folder in sorted(glob(_pattern(directory)))}
    return {match["student"]: folder for folder, match in matches.items() if match}


def _pattern(directory: CourseDirectory) -> str:
    """The pattern of the submitted folders of all students."""
    pattern: str = directory.format_path(directory.submitted_directory, "*", directory.assignment_id)
    return pattern


def _missing(folder: str, name: str) -> str:
    """What is in a student's folder if it does not hold the assignment's notebook; "" if it does."""
    try:
        entries = sorted(os.listdir(folder))
    except OSError as error:
        return f"the folder cannot be read: {error.strerror}"
    if name in entries:
        return ""
    notebooks = [entry for entry in entries if safe_files.is_notebook(entry)]
    if not notebooks:
        return f"the folder holds no {name}"
    return f"the folder holds {label(listed(notebooks, MOST_NAMED))} and no {name}"
