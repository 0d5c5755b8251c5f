"""Finds the submissions that wait, and records results with nbgrader's own Autograde: rows, notebooks, penalties.

Manual scores do not change.
"""

import contextlib
import os
import re
import unicodedata
import warnings
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from glob import glob
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.apps import AutogradeApp
from nbgrader.converters import Autograde
from nbgrader.converters.base import BaseConverter, NbGraderException
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import CheckCellMetadata, ClearOutput, DeduplicateIds, Execute, OverwriteCells
from nbgrader.utils import parse_utc
from sqlalchemy.engine import Engine
from sqlalchemy.exc import SAWarning
from sqlalchemy.orm import scoped_session, sessionmaker
from traitlets.config import Config
from traitlets.utils.importstring import import_item

from grader import catalog
from grader.catalog import Exercise, NoSuchExercise, paths
from grader.catalog.errors import BadSubmission, InfrastructureError, NoSuchFile, WrongUse
from grader.classroom import handins
from grader.classroom.arrivals import MAX_TIMESTAMP, TIMESTAMP
from grader.classroom.handins import HandIn, Origin, Student
from grader.classroom.intake import beneath
from grader.integrations.nbgrader import preprocessors
from grader.integrations.nbgrader.cells import Cell, learners_notebook, released
from grader.records import safe_files
from grader.records.results import ExerciseResult
from grader.records.sanitize import label
from grader.records.submission import Submission

MOST_NAMED = 3  # notebooks of a folder that holds no notebook of the assignment
# Steps that RestoreCells makes unnecessary. Without them recording takes two thirds of the time.
RESTORED = (ClearOutput, DeduplicateIds, OverwriteCells, CheckCellMetadata)


@dataclass(frozen=True, slots=True)
class NotebookHandIn(HandIn):
    """A submitted notebook. Only its cells that are not locked in the gradebook are graded."""

    cells: tuple[Cell, ...] = ()

    def read(self) -> Submission:
        """The submission. Raises BadSubmission or NoSuchFile."""
        return learners_notebook(beneath.read(self.place, safe_files.MAX_NOTEBOOK), self.cells, self.path.name)


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
            raise WrongUse(f"The gradebook knows no assignment {name}. {_remedy(name)}")
        if len(notebooks) > 1:
            raise WrongUse(f"{name} has {len(notebooks)} notebooks, which this cannot grade: nbgrader autograde {name}")
        return notebooks[0], released(gradebook, notebooks[0], name)


def waiting(app: AutogradeApp, force: bool = False, again: Collection[str] = ()) -> list[HandIn]:
    """The submissions that autograde would grade now: new ones and later versions.

    force: all; again: students whose submission is recorded again in any case.

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


def refused_of(app: AutogradeApp, assignment: str) -> dict[str, str]:
    """The same of any assignment of a course; of one that is not graded here, nobody."""
    app.coursedir.assignment_id = assignment
    try:
        return refused(app)
    except WrongUse:
        return {}


def folders(app: AutogradeApp) -> dict[str, str]:
    """The submitted folder of each student who handed in the assignment."""
    directory, assignment = app.coursedir, app.coursedir.assignment_id
    student = directory.format_path(directory.submitted_directory, "(?P<student>[^/]+)", assignment, escape=True)
    matches = {folder: re.fullmatch(student, folder) for folder in sorted(glob(_pattern(app)))}
    return {match["student"]: folder for folder, match in matches.items() if match}


@dataclass(frozen=True)
class Recorded:
    """The outcome of a recording, by student. Those who failed still need autograding.

    earlier: the students of whom an earlier attempt counts; notes: lines about what a person must look at; held: the
    students whose hand-in a brake keeps back, and whose mark stays.
    """

    graded: tuple[str, ...] = ()
    failed: Mapping[str, str] = field(default_factory=dict)  # student → the reason
    earlier: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    held: tuple[str, ...] = ()


def record(app: AutogradeApp, results: Mapping[str, ExerciseResult]) -> Recorded:
    """Record results, by student id, as nbgrader's autograde would. Earlier autograded notebooks are replaced.

    Raises InfrastructureError where nbgrader fails as a whole.
    """
    if not results:
        return Recorded()
    recorder = _Recorder(results, released_notebook(app)[1], app)
    try:
        with _one_engine(), warnings.catch_warnings():
            warnings.simplefilter("ignore", SAWarning)
            recorder.start()
    except NbGraderException as error:
        if not recorder.failed:
            raise InfrastructureError(f"nbgrader could not record the results: {error}") from None
    graded = [student for student in results if student in recorder.begun and student not in recorder.failed]
    ungraded_students = [student for student in results if student not in graded]
    failed = {student: recorder.failed.get(student, "nothing was submitted") for student in ungraded_students}
    return Recorded(tuple(graded), failed)


class _Restore(preprocessors.RestoreCells):
    """RestoreCells with released cells that were read once for all submissions."""

    cells: tuple[Cell, ...] = ()

    def released(self, about: dict[str, Any]) -> tuple[Cell, ...]:
        """The released cells."""
        return self.cells


class _Ready(_Restore, preprocessors.GradeInSandbox):
    """GradeInSandbox with results that were computed before."""

    results: Mapping[str, ExerciseResult] = {}

    def grade(
        self, exercise: Exercise, nb: NotebookNode, cells: tuple[Cell, ...], about: dict[str, Any]
    ) -> ExerciseResult:
        """The result of the student."""
        return self.results[about["student"]]


class _Recorder(Autograde):
    """nbgrader's autograde for the students with results."""

    def __init__(self, results: Mapping[str, ExerciseResult], cells: tuple[Cell, ...], app: AutogradeApp) -> None:
        super().__init__(coursedir=app.coursedir, parent=app, force=True)
        self.results = results
        self.begun: set[str] = set()  # students whose submissions were there
        self.failed: dict[str, str] = {}  # student → the reason
        self.update_config(Config({"Exporter": {"optimistic_validation": True}}))  # once, not after each step
        restore, ready = _Restore(parent=self), _Ready(parent=self)
        restore.cells = ready.cells = cells
        ready.results = results
        replacements = {preprocessors.RestoreCells: restore, preprocessors.GradeInSandbox: ready, Execute: ready}
        steps = list(map(_class_of, [*self.sanitize_preprocessors, *self.autograde_preprocessors]))
        unnecessary = (
            RESTORED if preprocessors.RestoreCells in steps and OverwriteCells.__name__ not in app.config else ()
        )
        self.folders = {folder for id, folder in folders(app).items() if id in results}
        self.steps = [replacements.get(step, step) for step in steps if step not in unnecessary]

    def init_notebooks(self) -> None:
        """Find the submissions of the students with results. Another's folder cannot end the run."""
        super().init_notebooks()
        self.assignments: dict[str, Any] = {
            folder: found for folder, found in self.assignments.items() if folder in self.folders
        }

    def init_destination(self, assignment_id: str, student_id: str) -> bool:
        """Whether to process the submission of a student: only where there is a result."""
        if student_id not in self.results:
            return False
        self.begun.add(student_id)
        self._student = student_id
        return super().init_destination(assignment_id, student_id)

    def convert_single_notebook(self, notebook_filename: str) -> None:
        """Run both stages at once. nbgrader writes the notebook between them only for the kernel that runs it."""
        try:
            if not self.exporter._preprocessors:
                for step in self.steps:
                    self.exporter.register_preprocessor(step)
            BaseConverter.convert_single_notebook(self, notebook_filename)
        except Exception as error:  # nbgrader logs it and continues
            self.failed[self._student] = str(error) or type(error).__name__
            raise


@contextlib.contextmanager
def _one_engine() -> Iterator[None]:
    """A context in which each gradebook's database is opened once, and later calls get a new session of its engine.

    nbgrader opens the gradebook a dozen times for each student, and creates missing tables each time.
    """
    engines: dict[tuple[str, str], Engine] = {}
    make, close = Gradebook.__init__, Gradebook.close

    def open_again(self: Gradebook, db_url: str, course_id: str = "default_course", authenticator: Any = None) -> None:
        """Takes the place of Gradebook.__init__."""
        if (db_url, course_id) not in engines:
            make(self, db_url, course_id, authenticator)
            engines[db_url, course_id] = self.engine
        self.engine, self.course_id, self.authenticator = engines[db_url, course_id], course_id, authenticator
        self.db = scoped_session(sessionmaker(autoflush=True, bind=self.engine, future=True))

    Gradebook.__init__, Gradebook.close = open_again, lambda self: self.db.remove()
    try:
        yield
    finally:
        Gradebook.__init__, Gradebook.close = make, close
        for engine in engines.values():
            engine.dispose()


def _remedy(name: str) -> str:
    """What to do where the gradebook has no assignment of this name, which may be a number of an exercise."""
    with contextlib.suppress(NoSuchExercise):
        if (folder := catalog.find(name).folder) != name:
            return f"Did you mean {folder}?"
    return f"First: nbgrader generate_assignment {name}"


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
    notebooks = [entry for entry in entries if safe_files.is_notebook(entry)]
    if not notebooks:
        return f"the folder holds no {name}"
    return f"the folder holds {label(handins.listed(notebooks, MOST_NAMED))} and no {name}: rename the right one"


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


def _class_of(preprocessor: type | str) -> type:
    """The class of a preprocessor that the settings name, or hold."""
    return import_item(preprocessor) if isinstance(preprocessor, str) else preprocessor
