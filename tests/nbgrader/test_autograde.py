"""What a run of nbgrader's own `autograde` leaves with this grader in it."""

import pytest
from a_course import FOLDER, cell
from extras import needed, when_used

from grader.records import seeds as seeds_of

pytestmark = pytest.mark.slow

needed("nbgrader", "classroom")
nbformat = when_used("nbformat")
PACKAGE = "grader.integrations.nbgrader"
preprocessors = when_used(f"{PACKAGE}.preprocessors")
FULL = {"task_1": 2.5, "task_2": 1.0, "task_3": 3.5}


def without_code(notebook):
    notebook.cells = [c for c in notebook.cells if c.cell_type != "code"]


def without_code_cells(notebook):
    """As another program saves it: no metadata says which cells were code."""
    for one in notebook.cells:
        one.cell_type, one.metadata = "markdown", {}
        one.pop("outputs", None), one.pop("execution_count", None)


def with_marks_of_a_merge(notebook):
    code = cell(notebook, "write_context_vector")
    code.source = f"<<<<<<< HEAD\n{code.source}\n=======\n{code.source}\n>>>>>>> theirs"


BROKEN = {
    without_code: f"{FOLDER}.ipynb is empty: it has no code cell with code in it.",
    without_code_cells: f"{FOLDER}.ipynb has no code: its cell",
    with_marks_of_a_merge: f"{FOLDER}.ipynb holds git's conflict marks",
}


@pytest.mark.parametrize("broken", BROKEN, ids=lambda change: change.__name__)
def test_a_broken_upload_needs_a_person_and_is_no_silent_0(broken, classroom):
    notebook = classroom.solved()
    broken(notebook)
    classroom.submit("ben", notebook)
    classroom.submit("ada", classroom.solved())
    done = classroom.nbgrader("autograde", FOLDER, ok=False)
    assert done.returncode == 1
    assert f"of ben was not graded: a person must look at it: {BROKEN[broken]}" in done.stderr
    assert not (classroom.root / "autograded" / "ben" / FOLDER).exists()
    assert set(classroom.scores("ben").values()) == {None} and classroom.scores("ada") == FULL
    classroom.submit("ben", classroom.solved())
    classroom.nbgrader("autograde", FOLDER)
    assert classroom.scores("ben") == FULL


@pytest.mark.parametrize("kind", ["markdown", "raw"])
def test_a_code_cell_that_became_text_is_code_again(kind, classroom):
    """Jupyter's keys m and r do it, and Colab's menu."""
    notebook = classroom.solved()
    for one in notebook.cells:
        if one.id.startswith("write_"):
            one.cell_type = kind
            del one["outputs"], one["execution_count"]
    classroom.submit("ada", notebook)
    classroom.nbgrader("autograde", FOLDER)
    assert classroom.scores("ada") == FULL
    kinds = {
        one.metadata.nbgrader.grade_id: one.cell_type
        for one in classroom.autograded("ada").cells
        if "nbgrader" in one.metadata
    }
    assert {kinds[name] for name in kinds if name.startswith("write_")} == {"code"}


def test_the_secret_of_a_run_of_nbgrader_is_in_nothing_that_it_leaves(classroom):
    """With nbgrader's own commands, from autograde to the feedback."""
    wrong, seed = classroom.solved(), seeds_of.secret_seed()
    source = "def context_vector(inputs, query_index):\n    print(inputs)\n    return inputs[query_index]"
    cell(wrong, "write_context_vector").source = source
    classroom.submit("ada", classroom.solved())
    classroom.submit("ben", wrong)
    told = ""
    for words in (("autograde", FOLDER, f"--GradeInSandbox.seed={seed}"), ("generate_feedback", FOLDER), ("export",)):
        done = classroom.nbgrader(*words)
        told += done.stdout + done.stderr
    assert (classroom.root / "feedback" / "ben" / FOLDER / f"{FOLDER}.html").exists()
    left = [path.read_bytes() for path in classroom.root.rglob("*") if path.is_file()] + [told.encode()]
    for number in (seed, seed - seeds_of.SECRET, seeds_of.torch_seed(seed)):
        for sign in (f"{number}".encode(), f"{number:x}".encode()):
            assert not any(sign in text for text in left)


def test_there_is_one_secret_for_each_run_however_long_its_process_lives():
    from nbgrader.converters import Autograde

    def drawn(run: Autograde) -> int:
        return preprocessors.GradeInSandbox(parent=run.exporter)._seed

    runs = [Autograde(), Autograde()]
    for run_ in runs:
        run_.exporter = run_.exporter_class(parent=run_, config=run_.config)
    assert drawn(runs[0]) == drawn(runs[0]) >= seeds_of.SECRET
    assert drawn(runs[0]) != drawn(runs[1])
