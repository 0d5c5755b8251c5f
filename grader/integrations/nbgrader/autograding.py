"""Records results with nbgrader's own Autograde: rows of the gradebook, autograded notebooks, timestamps, penalties.

Manual scores do not change.
"""

import contextlib
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.apps import AutogradeApp
from nbgrader.converters import Autograde
from nbgrader.converters.base import BaseConverter, NbGraderException
from nbgrader.preprocessors import CheckCellMetadata, ClearOutput, DeduplicateIds, Execute, OverwriteCells
from sqlalchemy.engine import Engine
from sqlalchemy.exc import SAWarning
from sqlalchemy.orm import scoped_session, sessionmaker
from traitlets.config import Config
from traitlets.utils.importstring import import_item

from grader.catalog import Exercise
from grader.catalog.errors import InfrastructureError
from grader.integrations.nbgrader import preprocessors, submitted
from grader.integrations.nbgrader.cells import Cell
from grader.records.results import ExerciseResult

# Steps that RestoreCells makes unnecessary. Without them recording takes two thirds of the time.
RESTORED = (ClearOutput, DeduplicateIds, OverwriteCells, CheckCellMetadata)


@dataclass(frozen=True)
class Recorded:
    """The outcome of a recording, by student. Those who failed still need autograding.

    earlier: the students of whom an earlier attempt counts; notes: lines about what a person must look at.
    """

    graded: tuple[str, ...] = ()
    failed: Mapping[str, str] = field(default_factory=dict)  # student → the reason
    earlier: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def record(app: AutogradeApp, results: Mapping[str, ExerciseResult]) -> Recorded:
    """Record results, by student id, as nbgrader's autograde would. Earlier autograded notebooks are replaced.

    Raises InfrastructureError where nbgrader fails as a whole.
    """
    if not results:
        return Recorded()
    recorder = _Recorder(results, submitted.released_notebook(app)[1], app)
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
        self.folders = {folder for id, folder in submitted.folders(app).items() if id in results}
        self.steps = [replacements.get(step, step) for step in steps if step not in unnecessary]

    def init_notebooks(self) -> None:
        """Find the submissions of the students with results. Another's folder cannot end the run."""
        super().init_notebooks()
        self.assignments = {folder: found for folder, found in self.assignments.items() if folder in self.folders}

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


def _class_of(preprocessor: type | str) -> type:
    """The class of a preprocessor that the settings name, or hold."""
    return import_item(preprocessor) if isinstance(preprocessor, str) else preprocessor
