"""Grades a class in parallel and records it in nbgrader's gradebook in one process.

nbgrader's own Autograde records the results: gradebook rows, autograded notebooks, timestamps, late penalties, and
manual scores, which stay as they are.
"""

import contextlib
import os
import re
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from glob import glob
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.apps import AutogradeApp
from nbgrader.converters import Autograde
from nbgrader.converters.base import BaseConverter, NbGraderException
from nbgrader.preprocessors import CheckCellMetadata, ClearOutput, DeduplicateIds, Execute, OverwriteCells
from nbgrader.utils import parse_utc
from sqlalchemy.exc import SAWarning
from sqlalchemy.orm import scoped_session, sessionmaker
from traitlets.config import Config
from traitlets.utils.importstring import import_item

from grader.catalog import paths
from grader.catalog.errors import InfrastructureError, WrongUse
from grader.classroom.handins import Graded, HandIn, Student
from grader.classroom.intake import beneath
from grader.integrations.nbgrader import preprocessors
from grader.integrations.nbgrader.cells import Cell, learners_notebook, released
from grader.records import submission
from grader.records.results import ExerciseResult
from grader.records.submission import Submission

# The steps that have nothing left to do after RestoreCells. Leaving them out saves a third of the time.
RESTORED = (ClearOutput, DeduplicateIds, OverwriteCells, CheckCellMetadata)
TIMESTAMP, MAX_TIMESTAMP = "timestamp.txt", 200  # bytes


@dataclass(frozen=True, slots=True)
class NotebookHandIn(HandIn):
    """A submitted notebook. Only the cells that are not locked in the gradebook are graded."""

    cells: tuple[Cell, ...] = ()

    def read(self) -> Submission:
        """The submission. Raises submission.BadSubmission or NoSuchFile."""
        return learners_notebook(beneath.read(self.place, submission.MAX_NOTEBOOK), self.cells, self.path.name)


@dataclass(frozen=True)
class Recorded:
    """The outcome of a recording, by student. Those who failed still need autograding."""

    graded: tuple[str, ...] = ()
    failed: Mapping[str, str] = field(default_factory=dict)  # why


def wishes(course: Path) -> dict:
    """The course's own settings of `c.GradeInSandbox`: seed, device, timeout, tier, accept_tier."""
    config = _app(course, "", None).config.get("GradeInSandbox", {})
    return {name: value for name, value in config.items() if name in preprocessors.GradeInSandbox.class_trait_names()}


def grade_course(
    course: Path,
    assignment: str,
    grade: Callable[[list[HandIn]], Iterable[Graded]],
    force: bool = False,
    db_url: str | None = None,
) -> Recorded:
    """Grade with `grade` what nbgrader's autograde would grade now, and record the results.

    force: grade again what has been autograded. Raises WrongUse where there is no such course or assignment.
    """
    app = _app(course, assignment, db_url)
    handins = waiting(app, force)
    results = {graded.student.id: graded.result for graded in grade(handins)} if handins else {}
    done = _record(app, results)
    missing = {h.student.id: "it was not graded" for h in handins if h.student.id not in results}
    refused = {id: why for id, folder in _submitted(app)[1].items() if (why := _unfit(app, id, folder))}
    return Recorded(done.graded, missing | done.failed | refused)


def record(course: Path, assignment: str, results: Mapping[str, ExerciseResult], db_url: str | None = None) -> Recorded:
    """Record results, by student id, as nbgrader's autograde would. Earlier autograded notebooks are replaced."""
    return _record(_app(course, assignment, db_url), results)


def waiting(app: AutogradeApp, force: bool = False) -> list[HandIn]:
    """The submissions that autograde would grade: new ones and later versions; with force, all. Raises WrongUse."""
    directory, assignment = app.coursedir, app.coursedir.assignment_id
    notebook, cells = _released(app)
    exercise = preprocessors.exercise_of(notebook)
    where, submitted = _submitted(app)
    if not submitted:
        raise WrongUse(f"No submission lies in {where}. Collect them: nbgrader collect {assignment}")
    return [
        NotebookHandIn(Student(id), exercise.folder, _place(where, folder, f"{notebook}.ipynb"), cells=cells)
        for id, folder in submitted.items()
        if not _unfit(app, id, folder)
        and Path(folder, f"{notebook}.ipynb").exists()
        and (force or not _is_graded(directory, folder, id))
    ]


def _submitted(app: AutogradeApp) -> tuple[str, dict[str, str]]:
    """The pattern of the folders that were handed in, and each student's."""
    directory, assignment = app.coursedir, app.coursedir.assignment_id
    where = directory.format_path(directory.submitted_directory, "*", assignment)
    student = directory.format_path(directory.submitted_directory, "(?P<student>[^/]+)", assignment, escape=True)
    return where, {found["student"]: path for path in sorted(glob(where)) if (found := re.fullmatch(student, path))}


def _unfit(app: AutogradeApp, id: str, folder: str) -> str:
    """Why nbgrader would end, or fail all others too, where it meets this student's folder; "" where it would not."""
    if any(unicodedata.category(sign) in ("Cc", "Cs") for sign in id):
        return "the name of the folder holds a control character, or is not UTF-8: rename it to the student's id"
    place = beneath.place(os.path.dirname(folder), os.path.basename(folder), TIMESTAMP)
    try:
        text = beneath.read(place, MAX_TIMESTAMP).decode().strip()
        if text:
            parse_utc(text)
    except submission.NoSuchFile:
        pass
    except (submission.BadSubmission, ValueError, OverflowError, ArithmeticError, TypeError) as error:
        return f"{TIMESTAMP} holds no time ({error}): remove it or write the time"
    return ""


def _place(pattern: str, folder: str, name: str) -> str:
    """The place of a student's notebook: below the folder of all students, no link is followed."""
    students = os.path.dirname(pattern.partition("*")[0] + "*")
    return beneath.place(students, *os.path.relpath(folder, students).split(os.sep), name)


class _Restore(preprocessors.RestoreCells):
    """RestoreCells with the released cells, which need not be read from the gradebook."""

    cells: tuple[Cell, ...] = ()

    def released(self, about: dict) -> tuple[Cell, ...]:
        return self.cells


class _Ready(_Restore, preprocessors.GradeInSandbox):
    """GradeInSandbox with the results, which need not be computed."""

    results: Mapping[str, ExerciseResult] = {}

    def grade(self, exercise, nb, cells, about) -> ExerciseResult:
        return self.results[about["student"]]


class _Recorder(Autograde):
    """nbgrader's autograde for the students with results."""

    def __init__(self, results: Mapping[str, ExerciseResult], cells: tuple[Cell, ...], app: AutogradeApp):
        super().__init__(coursedir=app.coursedir, parent=app, force=True)
        self.results, self.begun, self.failed = results, set(), {}
        self.update_config(Config({"Exporter": {"optimistic_validation": True}}))  # once, not after each step
        restore, ready = _Restore(parent=self), _Ready(parent=self)
        restore.cells = ready.cells = cells
        ready.results = results
        replacements = {preprocessors.RestoreCells: restore, preprocessors.GradeInSandbox: ready, Execute: ready}
        steps = list(map(_class_of, [*self.sanitize_preprocessors, *self.autograde_preprocessors]))
        done = RESTORED if preprocessors.RestoreCells in steps and OverwriteCells.__name__ not in app.config else ()
        self.steps = [replacements.get(step, step) for step in steps if step not in done]

    def init_notebooks(self) -> None:
        """Only the students with results: another's folder cannot end the run."""
        super().init_notebooks()
        wanted = {path for id, path in _submitted(self.parent)[1].items() if id in self.results}
        self.assignments = {path: found for path, found in self.assignments.items() if path in wanted}

    def init_destination(self, assignment_id: str, student_id: str) -> bool:
        if student_id not in self.results:
            return False
        self.begun.add(student_id)
        self._student = student_id
        return super().init_destination(assignment_id, student_id)

    def convert_single_notebook(self, notebook_filename: str) -> None:
        """Run both stages at once. nbgrader writes the notebook in between only because a kernel is to run it."""
        try:
            if not self.exporter._preprocessors:
                for step in self.steps:
                    self.exporter.register_preprocessor(step)
            BaseConverter.convert_single_notebook(self, notebook_filename)
        except Exception as error:  # nbgrader logs it and continues
            self.failed[self._student] = str(error) or type(error).__name__
            raise


def _record(app: AutogradeApp, results: Mapping[str, ExerciseResult]) -> Recorded:
    if not results:
        return Recorded()
    recorder = _Recorder(results, _released(app)[1], app)
    try:
        with _one_engine(), warnings.catch_warnings():
            warnings.simplefilter("ignore", SAWarning)
            recorder.start()
    except NbGraderException as error:
        if not recorder.failed:
            raise InfrastructureError(f"nbgrader could not record the results: {error}") from None
    done = [id for id in results if id in recorder.begun and id not in recorder.failed]
    failed = {id: recorder.failed.get(id, "nothing was submitted") for id in results if id not in done}
    return Recorded(tuple(done), failed)


@contextlib.contextmanager
def _one_engine() -> Iterator[None]:
    """Open the database of a gradebook once, and give later calls a new session on the same engine.

    nbgrader opens the gradebook a dozen times for each student, and creates missing tables each time.
    """
    engines = {}
    make, close = Gradebook.__init__, Gradebook.close

    def open_again(self, db_url, course_id="default_course", authenticator=None):
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
        for made in engines.values():
            made.dispose()


def _released(app: AutogradeApp) -> tuple[str, tuple[Cell, ...]]:
    """The notebook of the assignment and its cells. Raises WrongUse where the gradebook does not hold exactly one."""
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


def _is_graded(directory, folder: str, student: str) -> bool:
    """Whether autograde would skip this submission: it is autograded, and the submitted one is not newer."""
    graded = directory.format_path(directory.autograded_directory, student, directory.assignment_id)
    if not os.path.exists(graded):
        return False
    new, old = directory.get_existing_timestamp(folder), directory.get_existing_timestamp(graded)
    return new is None or old is None or new <= old


def _class_of(preprocessor) -> type:
    """The class of a preprocessor in the settings, which is a class or its name."""
    return import_item(preprocessor) if isinstance(preprocessor, str) else preprocessor


def _app(course: Path, assignment: str, db_url: str | None) -> AutogradeApp:
    """nbgrader with the course's own settings. Raises WrongUse where there is no course."""
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
