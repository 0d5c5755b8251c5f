"""Preprocessors for nbgrader's autograde that use the sandboxed grader instead of a kernel.

A notebook that `kata grade COURSE --assignment NAME` has graded is not graded again: its result is taken from there.

nbgrader gives full marks to a grade cell without output. So every grade cell gets an explicit score here, and where
the grader fails the submission stays ungraded.
"""

import atexit
import functools
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.converters.base import BaseConverter
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Enum, Float, Integer, Unicode

from grader import catalog
from grader.catalog.errors import InfrastructureError, WrongUse
from grader.classroom.grade import broken
from grader.classroom.store import Store
from grader.integrations.nbgrader.cells import Cell, learner_code, output, released, restore
from grader.records.results import NOT_GRADED, ExerciseResult, Settings
from grader.records.seeds import secret_seed
from grader.records.submission import Submission, Unreadable, attempt
from grader.sandbox.forkserver import ForkServer

RESULTS = "results"  # the folder of a course


class RestoreCells(NbGraderPreprocessor):
    """Restores the released cells of a submission before nbgrader reads their metadata."""

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """Restore the cells of one notebook."""
        restore(nb, self.released(resources["nbgrader"]))
        return nb, resources

    def released(self, about: dict[str, Any]) -> tuple[Cell, ...]:
        """The released cells of the notebook. about: what nbgrader says of the submission."""
        with Gradebook(about["db_url"]) as gradebook:
            return released(gradebook, about["notebook"], about["assignment"])


class GradeInSandbox(RestoreCells):
    """Grades the learner's cells and writes feedback and score into each grade cell."""

    device = Enum(("cpu", "cuda", "mps"), "cpu", help="Where the exercises are computed").tag(config=True)
    seed = Integer(None, allow_none=True, help="Of the fresh inputs; None: a secret of each run").tag(config=True)
    timeout = Float(None, allow_none=True, help="Seconds for one call; None: the exercise's own").tag(config=True)
    tier = Enum(("A", "B", "D"), None, allow_none=True, help="This sandbox and no other").tag(config=True)
    accept_tier = Unicode("", help="'D': grade although there is no sandbox, at your own risk").tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """Restore and grade one notebook. Raises InfrastructureError where the grader fails."""
        about = resources["nbgrader"]
        try:
            cells = self.released(about)
            exercise = exercise_of(about["notebook"])
            restore(nb, cells)
            write(nb, cells, self.grade(exercise, nb, cells, about))
        except InfrastructureError as error:
            self.log.error("%s of %s was not graded: %s", about["notebook"], about["student"], error)
            raise
        return nb, resources

    def grade(
        self, exercise: catalog.Exercise, nb: NotebookNode, cells: tuple[Cell, ...], about: dict[str, Any]
    ) -> ExerciseResult:
        """The verdict on one restored notebook.

        Raises InfrastructureError if the grader fails, and for a notebook that cannot be an answer: nbgrader then says
        that it still needs autograding, where a 0 would hide a broken upload.
        """
        name = f"{about['notebook']}.ipynb"
        handed_in = attempt(lambda: learner_code(nb, cells, name), name)
        if isinstance(handed_in, Unreadable):
            raise InfrastructureError(f"a person must look at it: {handed_in.reason}")
        if reason := broken(handed_in):
            raise InfrastructureError(f"a person must look at it: {reason}")
        if kept := self.kept(exercise, handed_in, about):
            return kept
        fork_server = _fork_server(self.device, self.tier, self.accept_tier)
        from grader.judge import grading  # heavy: it imports torch while the fork server does

        settings = Settings(self.device, self._seed, self.timeout, reveal=False)
        result = grading.result(exercise, handed_in, fork_server, settings)
        if result.status == NOT_GRADED:
            raise InfrastructureError(result.message)
        return result

    def kept(self, exercise: catalog.Exercise, handed_in: Submission, about: dict[str, Any]) -> ExerciseResult | None:
        """The result that `kata grade` has for the same code by the same version of the grader, or None."""
        folder = results_folder(Path(self._run.coursedir.root), about["assignment"])
        try:
            with Store.existing(folder) as store:
                return store.find(exercise.folder, handed_in)
        except WrongUse:  # there is none, or a run is writing it now
            return None

    @property
    def _run(self) -> Any:
        """nbgrader's Autograde, of which this is a step."""
        run = self
        while run.parent is not None and not isinstance(run, BaseConverter):
            run = run.parent
        return run

    @property
    def _seed(self) -> int:
        """The seed of all notebooks of a run. A secret one belongs to the run: formgrader's process may have many."""
        if self.seed is not None:
            return self.seed
        if not hasattr(self._run, "secret_seed"):
            self._run.secret_seed = secret_seed()
        return self._run.secret_seed


def results_folder(course: Path, assignment: str) -> Path:
    """Where the results of `kata grade COURSE --assignment NAME` are."""
    return course / RESULTS / assignment


def exercise_of(notebook: str) -> catalog.Exercise:
    """The exercise that a notebook holds. Raises InfrastructureError where there is no such exercise."""
    exercise = next((exercise for exercise in catalog.exercises() if exercise.folder == notebook), None)
    if exercise is None:
        raise InfrastructureError(f"{notebook} is no exercise of this grader. See them: make progress")
    return exercise


def write(nb: NotebookNode, cells: tuple[Cell, ...], result: ExerciseResult) -> None:
    """Put feedback and score into every grade cell of a restored notebook."""
    graded = {cell.id: cell for cell in cells if cell.is_autograded}
    first = True
    for cell in nb["cells"]:
        grade_cell = graded.get(cell["metadata"].get("nbgrader", {}).get("grade_id"))
        if grade_cell is not None:
            cell["outputs"] = [output(result, grade_cell, first)]
            first = False


@functools.cache
def _fork_server(device: str, tier: str | None, accepted: str) -> ForkServer:
    """The fork server of this process, whose sandbox was tested.

    Raises InfrastructureError where the sandbox is not fit for other people's code.
    """
    from grader.sandbox.forkserver import demand_device

    fork_server = ForkServer(device, tier)
    try:
        demand_device(device)
        fork_server.demand(accepted or None)
    except BaseException:
        fork_server.close()
        raise
    atexit.register(fork_server.close)
    return fork_server
