"""What a run of nbgrader's own `autograde` leaves with this grader in it."""

import pytest
from a_course import FOLDER, FULL, cell
from extras import WhenUsed, needed

from grader.records import seeds as seeds_of

pytestmark = pytest.mark.slow

needed("nbgrader", "classroom")
nbformat = WhenUsed("nbformat")
PACKAGE = "grader.integrations.nbgrader"
preprocessors = WhenUsed(f"{PACKAGE}.preprocessors")


def without_code_cells(notebook):
    """As another program saves it: no metadata says which cells were code."""
    for one in notebook.cells:
        one.cell_type, one.metadata = "markdown", {}
        one.pop("outputs", None), one.pop("execution_count", None)


def with_marks_of_a_merge(notebook):
    code = cell(notebook, "write_context_vector")
    code.source = f"<<<<<<< HEAD\n{code.source}\n=======\n{code.source}\n>>>>>>> theirs"


BROKEN = {
    without_code_cells: f"{FOLDER}.ipynb has no code: its cell",
    with_marks_of_a_merge: f"{FOLDER}.ipynb holds git's conflict marks",
}


def as_text(notebook, kind):
    """Jupyter's keys m and r do it, and Colab's menu."""
    for one in notebook.cells:
        if one.id.startswith("write_"):
            one.cell_type = kind
            del one["outputs"], one["execution_count"]


def test_a_broken_upload_needs_a_person_and_is_no_silent_0_and_code_that_became_text_is_code_again(classroom):
    for broken in BROKEN:
        notebook = classroom.solved()
        broken(notebook)
        classroom.submit(broken.__name__, notebook)
    classroom.submit("ada", classroom.solved())
    for kind in ("markdown", "raw"):
        notebook = classroom.solved()
        as_text(notebook, kind)
        classroom.submit(kind, notebook)
    done = classroom.nbgrader("autograde", FOLDER, ok=False)
    assert done.returncode == 1
    for broken, told in BROKEN.items():
        student = broken.__name__
        assert f"of {student} was not graded: a person must look at it: {told}" in done.stderr
        assert not (classroom.root / "autograded" / student / FOLDER).exists()
        assert set(classroom.scores(student).values()) == {None}
    for student in ("ada", "markdown", "raw"):
        assert classroom.scores(student) == FULL
        cells = [one for one in classroom.autograded(student).cells if "nbgrader" in one.metadata]
        kinds = {one.cell_type for one in cells if one.metadata.nbgrader.grade_id.startswith("write_")}
        assert kinds == {"code"}


def test_there_is_one_secret_for_each_run_however_long_its_process_lives():
    from nbgrader.converters import Autograde

    def drawn(run: Autograde) -> int:
        return preprocessors.GradeInSandbox(parent=run.exporter)._seed

    runs = [Autograde(), Autograde()]
    for run_ in runs:
        run_.exporter = run_.exporter_class(parent=run_, config=run_.config)
    assert drawn(runs[0]) == drawn(runs[0]) >= seeds_of.SECRET
    assert drawn(runs[0]) != drawn(runs[1])
