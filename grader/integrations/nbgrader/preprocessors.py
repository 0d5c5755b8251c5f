"""Preprocessors for nbgrader's autograde that use the sandboxed grader instead of a kernel.

nbgrader gives full marks to a cell without output. So every grade cell gets an explicit score here, and where the
grader cannot do its work the submission stays ungraded.
"""

import atexit
import functools
from weakref import WeakKeyDictionary

from nbgrader.api import Gradebook
from nbgrader.converters.base import BaseConverter
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Enum, Float, Integer, Unicode

from grader import catalog
from grader.catalog.errors import InfrastructureError
from grader.integrations.nbgrader import outcomes
from grader.integrations.nbgrader.cells import Cell, learner_code, released, restore
from grader.records.results import NOT_GRADED, ExerciseResult
from grader.records.seeds import secret_seed
from grader.sandbox.forkserver import ForkServer

_secrets: WeakKeyDictionary = WeakKeyDictionary()  # the secret seed of each run


class RestoreCells(NbGraderPreprocessor):
    """Restores the released cells of a submission before nbgrader reads their metadata."""

    def preprocess(self, nb, resources):
        restore(nb, self.released(resources["nbgrader"]))
        return nb, resources

    def released(self, about: dict) -> tuple[Cell, ...]:
        """The cells of the notebook as they were released."""
        with Gradebook(about["db_url"]) as gradebook:
            return released(gradebook, about["notebook"], about["assignment"])


class GradeInSandbox(RestoreCells):
    """Grades the learner's cells and writes feedback and score into each grade cell."""

    device = Enum(("cpu", "cuda", "mps"), "cpu", help="Where the exercises are computed").tag(config=True)
    seed = Integer(None, allow_none=True, help="Of the fresh inputs; None: a secret of each run").tag(config=True)
    timeout = Float(None, allow_none=True, help="Seconds for one call; None: the exercise's own").tag(config=True)
    tier = Enum(("A", "B", "C", "D"), None, allow_none=True, help="This sandbox and no other").tag(config=True)
    accept_tier = Unicode("", help="'D': grade although there is no sandbox, at your own risk").tag(config=True)

    def preprocess(self, nb, resources):
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

    def grade(self, exercise: catalog.Exercise, nb, cells: tuple[Cell, ...], about: dict) -> ExerciseResult:
        """The verdict on one restored notebook. Raises InfrastructureError where the grader fails."""
        fork_server = _fork_server(self.device, self.tier, self.accept_tier)
        from grader.judge import examiner  # heavy: it imports torch while the fork server does

        settings = examiner.Settings(self.device, self._seed, self.timeout, reveal=False)
        shown = f"{about['notebook']}.ipynb"
        result = examiner.graded(exercise, lambda: learner_code(nb, cells, shown), shown, fork_server, settings)
        if result.status == NOT_GRADED:
            raise InfrastructureError(result.message)
        return result

    @property
    def _seed(self) -> int:
        """The seed of all notebooks of a run. The process of formgrader may serve many runs."""
        run = self
        while run.parent is not None and not isinstance(run, BaseConverter):
            run = run.parent
        return _secrets.setdefault(run, secret_seed()) if self.seed is None else self.seed


def exercise_of(notebook: str) -> catalog.Exercise:
    """The exercise that a notebook holds. Raises InfrastructureError where there is no such exercise."""
    exercise = next((exercise for exercise in catalog.exercises() if exercise.folder == notebook), None)
    if exercise is None:
        raise InfrastructureError(f"{notebook} is no exercise of this grader. See them: make list")
    return exercise


def write(nb, cells: tuple[Cell, ...], result: ExerciseResult) -> None:
    """Put feedback and score into every grade cell of a restored notebook."""
    graded = {cell.id: cell for cell in cells if cell.is_autograded}
    first = True
    for cell in nb["cells"]:
        own = graded.get(cell["metadata"].get("nbgrader", {}).get("grade_id"))
        if own is not None:
            cell["outputs"] = [outcomes.output(result, own, first)]
            first = False


@functools.cache
def _fork_server(device: str, tier: str | None, accepted: str) -> ForkServer:
    """The fork server of this process, tried out. Raises InfrastructureError where it is not fit for others' code."""
    from grader.sandbox.devices import demand_device

    fork_server = ForkServer(device, tier)
    try:
        demand_device(device)
        fork_server.demand(accepted or None)
    except BaseException:
        fork_server.close()
        raise
    atexit.register(fork_server.close)
    return fork_server
