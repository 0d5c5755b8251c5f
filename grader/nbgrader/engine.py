"""Preprocessors for nbgrader's autograde: the sandboxed grader in the place of a kernel.

nbgrader's own scoring fails open: a cell without output has full marks. So every grade cell gets an explicit
score here, and where the grader cannot do its work the submission stays ungraded.
"""

import atexit
import functools
import secrets

from nbgrader.api import Gradebook
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Enum, Float, Integer, Unicode

from grader import catalog, submission
from grader.nbgrader import feedback
from grader.nbgrader.cells import Cell, learner_code, released, restore
from grader.nursery import InfrastructureError, Nursery
from grader.results import ExerciseResult


class RestoreCells(NbGraderPreprocessor):
    """Makes the released cells of a submission what they were, before nbgrader reads their metadata."""

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
    seed = Integer(None, allow_none=True, help="Of the fresh inputs; None: one for each run").tag(config=True)
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
        nursery = _nursery(self.device, self.tier, self.accept_tier)
        from grader import runner  # heavy: it imports torch while the nursery does

        settings = runner.Settings(self.device, self._seed, self.timeout, reveal=False)
        shown = f"{about['notebook']}.ipynb"
        try:
            code = learner_code(nb, cells, shown)
        except submission.BadSubmission as error:
            return runner.unreadable(exercise, shown, str(error), settings)
        return runner.grade(exercise, code, nursery, settings)

    @property
    def _seed(self) -> int:
        return _seed_of_this_run() if self.seed is None else self.seed


def exercise_of(notebook: str) -> catalog.Exercise:
    """The exercise that a notebook holds. Raises InfrastructureError where it is none of ours."""
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
            cell["outputs"] = [feedback.output(result, own, first)]
            first = False


@functools.cache
def _seed_of_this_run() -> int:
    return secrets.randbelow(1_000_000)


@functools.cache
def _nursery(device: str, tier: str | None, accepted: str) -> Nursery:
    """The nursery of this process, tried out. Raises InfrastructureError where it is not enough for others' code."""
    from grader.commands.check import demand_device

    nursery = Nursery(device, tier)
    try:
        demand_device(device)
        nursery.demand(accepted or None)
    except BaseException:
        nursery.close()
        raise
    atexit.register(nursery.close)
    return nursery
