"""What a student can do to a notebook, through the real `nbgrader autograde`: the score is what the code deserves.

One run grades a sample of the cases, all with THOROUGH=1. Each says which honest notebook its scores must equal.
"""

import copy
import functools
import re
import shutil

import pytest
from a_course import FOLDER, FULL, Course, cell
from extras import WhenUsed, needed
from thorough import THOROUGH, sample

from grader import catalog
from grader.catalog import paths
from grader.judge import grading
from grader.judge.inputs import Random
from grader.records import seeds as seeds_of
from grader.records.results import Settings
from grader.records.submission import Submission

pytestmark = pytest.mark.slow

needed("nbgrader", "classroom")
nbformat, v4 = WhenUsed("nbformat"), WhenUsed("nbformat.v4")

SEED = seeds_of.SECRET + 0x6F1D93A847C25EB0C41A7D289E36F05B  # as a run draws one
GRADED = tuple(FULL)
TELLING = "[tw]*"  # the students whose feedback is made: with what prints and raises inputs, and HTML
CASES = {}


def case(like: str):
    """A way to cheat, or to be unlucky: `like` names the honest notebook that it starts from and must equal."""

    def note(change):
        CASES[change.__name__] = (like, change)
        return change

    return note


def grade_cells(notebook):
    return [cell(notebook, id) for id in GRADED]


# The grade cells


@case("wrong")
def deleted(notebook):
    notebook.cells = [c for c in notebook.cells if c.id not in GRADED]


@case("wrong")
def duplicated(notebook):
    for graded in grade_cells(notebook):
        twin = copy.deepcopy(graded)
        twin.id, twin.source = f"{graded.id}_twin", "3.5"
        notebook.cells.append(twin)


@case("right")
def reordered(notebook):
    graded = grade_cells(notebook)
    notebook.cells = [*reversed(graded), *(c for c in notebook.cells if c not in graded)]


@case("wrong")
def edited_to_a_score(notebook):
    for graded, text in zip(grade_cells(notebook), ("2.5", "import torch\ntorch.tensor(2.)", "-1"), strict=True):
        graded.source = text


@case("wrong")
def emptied(notebook):
    for graded in grade_cells(notebook):
        graded.source = ""


@case("wrong")
def made_markdown(notebook):
    for graded in grade_cells(notebook):
        graded.cell_type = "markdown"
        del graded["outputs"], graded["execution_count"]


@case("wrong")
def with_outputs_of_its_own(notebook):
    for graded in grade_cells(notebook):
        graded.outputs = [v4.new_output("execute_result", data={"text/plain": "100"}, execution_count=1)]
        graded.execution_count = 1


# Their metadata


@case("wrong")
def worth_a_hundred_points(notebook):
    for graded in grade_cells(notebook):
        graded.metadata.nbgrader.points = 100


@case("wrong")
def ids_of_grade_cells_swapped(notebook):
    first, _, last = grade_cells(notebook)
    first.metadata.nbgrader.grade_id, last.metadata.nbgrader.grade_id = "task_3", "task_1"


@case("right")
def ids_of_code_and_grade_cell_swapped(notebook):
    code, graded = cell(notebook, "write_attention_weights"), cell(notebook, "task_1")
    code.metadata, graded.metadata = graded.metadata, code.metadata


@case("right")
def metadata_thrown_away(notebook):
    for any_cell in notebook.cells:
        any_cell.metadata = {}
    notebook.metadata = {}


@case("right")
def metadata_of_nonsense(notebook):
    one, two, three = grade_cells(notebook)
    one.metadata.nbgrader = "nonsense"
    two.metadata.nbgrader = {"grade_id": ["task_2"], "points": "many", "grade": "yes", "schema_version": 99}
    del three.metadata.nbgrader["points"], three.metadata.nbgrader["locked"]
    notebook.cells[0].metadata.nbgrader = {"grade": True, "grade_id": "task_1", "schema_version": 1e400}
    notebook.metadata.kernelspec = {"name": "evil", "language": 7}


@case("wrong")
def a_grade_cell_of_its_own(notebook):
    extra = v4.new_code_cell("50", id="mine")
    extra.metadata.nbgrader = dict(cell(notebook, "task_1").metadata.nbgrader, grade_id="bonus", points=50)
    notebook.cells.append(extra)


# What the code does


@case("wrong")
def loops_in_a_call(notebook):
    code = cell(notebook, "write_context_vectors")
    code.source = code.source.replace("    return", "    while True: pass\n    return")


@case("wrong")
def tells_the_hidden_inputs(notebook):
    """Prints and raises whatever it is given."""
    code = cell(notebook, "write_context_vectors")
    told = "import sys; print(inputs); sys.stderr.write(str(inputs)); raise ValueError(inputs)"
    code.source = code.source.replace("    return", f"    {told}\n    return")


PATCH = """
try:
    shell = get_ipython()
    shell.run_cell = shell.run_line_magic = lambda *a, **k: 100
except NameError:
    pass
"""
BOOK = """
import glob, sqlite3
for path in glob.glob("/**/gradebook.db", recursive=True) + ["gradebook.db", "../gradebook.db", "ROOT/gradebook.db"]:
    try:
        with sqlite3.connect(path) as book:
            print("SECRET", book.execute("select * from grade").fetchall())
            book.execute("update grade set auto_score = 100")
    except Exception:
        pass
"""
CELLS = {  # what it must equal, and the sources of a first cell and of a last one
    "patches_ipython": ("wrong", PATCH, ""),
    "prints_scores": ("wrong", "print(100)\n100", "print('2.5')\n2.5"),
    "reads_and_writes_the_gradebook": ("wrong", "", BOOK),
    "kills_its_process": ("right", "", "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\nos._exit(0)"),
    "loops_for_ever": ("right", "", "while True: pass"),
    "writes_html": ("wrong", "", "print('<script>alert(1)</script>')"),
    "half_a_character": ("right", "", "'\\ud800'  # HALF"),
}


def with_cells(first: str, last: str, notebook):
    notebook.cells = [v4.new_code_cell(first)] * bool(first) + notebook.cells + [v4.new_code_cell(last)] * bool(last)


CASES |= {name: (like, functools.partial(with_cells, *sources)) for name, (like, *sources) in CELLS.items()}
TOLD = ("tells_the_hidden_inputs", "writes_html")  # of which the feedback is looked at
CHOSEN = {name: CASES[name] for name in sorted({*sample(CASES, 9), *TOLD})}


def wrong(notebook):
    """The weights are transposed in task 3, which tasks 1 and 2 do not build on."""
    code = cell(notebook, "write_context_vectors")
    code.source = code.source.replace("attention_weights(inputs) @", "attention_weights(inputs).T @")


@pytest.fixture(scope="module")
def graded(released, tmp_path_factory):
    """The course after one run of autograde over all cases, and one of generate_feedback."""
    course = Course(tmp_path_factory.mktemp("cheating") / "kata")
    shutil.copytree(released.root, course.root)
    for name, change in {"right": None, "wrong": wrong, "nothing": None}.items():
        notebook = course.released() if name == "nothing" else course.solved()
        if change:
            change(notebook)
        course.submit(name, notebook)
    for name, (like, change) in CHOSEN.items():
        notebook = course.solved()
        if like == "wrong":
            wrong(notebook)
        change(notebook)
        text = nbformat.writes(notebook).replace("ROOT", str(course.root)).replace("# HALF", "\\ud800")
        course.submit(name, text)
    course.submit("no_notebook_at_all", "{ this is no JSON")
    course.outputs = (
        course.nbgrader("autograde", FOLDER, f"--GradeInSandbox.seed={SEED}", ok=False),
        course.nbgrader("generate_feedback", FOLDER, "--student=*" if THOROUGH else f"--student={TELLING}"),
    )
    return course


def test_the_honest_get_what_they_deserve(graded):
    assert graded.scores("right") == FULL and graded.scores("nothing") == dict.fromkeys(FULL, 0.0)
    some = graded.scores("wrong")
    assert (some["task_1"], some["task_2"]) == (2.5, 1.0) and 0 < some["task_3"] < 2  # its share of the promises


@pytest.mark.parametrize("name", CHOSEN)
def test_the_score_is_what_the_code_deserves(name, graded):
    assert graded.scores(name) == graded.scores(CASES[name][0])
    with graded.gradebook() as book:
        submission = book.find_submission(FOLDER, name)
        assert not submission.needs_manual_grade
        assert submission.max_score == catalog.find("03").max_points
    shown = [c for c in graded.autograded(name).cells if c.metadata.get("nbgrader", {}).get("grade")]
    assert sorted(c.metadata.nbgrader.grade_id for c in shown) == sorted(GRADED)
    assert all("%documented" in c.source and len(c.outputs) == 1 for c in shown)


def test_a_file_that_is_no_notebook_costs_nobody_else_anything(graded):
    assert graded.outputs[0].returncode == 1
    assert "no_notebook_at_all" in graded.outputs[0].stderr
    assert not (graded.root / "autograded" / "no_notebook_at_all" / FOLDER).exists()
    assert len(list((graded.root / "autograded").iterdir())) >= len(CHOSEN) + 3


def test_the_feedback_says_what_is_wrong_and_nothing_hidden(graded):
    page = (graded.root / "feedback" / "wrong" / FOLDER / f"{FOLDER}.html").read_text("utf-8")
    assert "The context vectors of all six tokens match the printed numbers." in page and "Probably:" in page
    everything = {
        path: path.read_text("utf-8")
        for folder in ("release", "autograded", "feedback")
        for path in (graded.root / folder).rglob("*")
        if path.suffix in (".ipynb", ".html", ".py")
    }
    assert len(everything) > 2 * len(CHOSEN)
    assert {"wrong", "tells_the_hidden_inputs", "writes_html"} <= {
        path.name for path in (graded.root / "feedback").iterdir()
    }
    public = paths.documented_checks(FOLDER).read_text("utf-8")
    source = "\n".join(path.read_text("utf-8") for path in paths.checks(FOLDER)[1:])
    lines = {line.strip() for line in source.splitlines() if len(line.strip()) > 50 and '"""' not in line} - {
        *public.splitlines()
    }
    lines = {line for line in lines if not line.startswith(("#", "from", "import")) and line not in public}
    inputs = [Random(SEED, check).randn(5, 2) for check in ("fresh_attention_weights", "fresh_context_vectors")]
    numbers = {f"{abs(value):.4f}" for tensor in inputs for value in tensor.flatten().tolist()}
    assert len(lines) > 5 and len(numbers) > 10
    for path, text in everything.items():
        assert [line for line in lines if line in text] == [], path
        assert [number for number in numbers if re.search(rf"(?<!\d){re.escape(number)}", text)] == [], path
        assert "SECRET [" not in text, path
        assert path.suffix != ".html" or "<script>alert(1)" not in text, path
    told = "".join(str(c.outputs) for c in graded.autograded("writes_html").cells if c.cell_type == "code")
    assert "&lt;script&gt;alert(1)" in told and "<script" not in told


def test_the_hidden_inputs_were_there_to_be_told(graded, fork_server):
    """Proves that the search above looks for the right thing: at a learner's own desk the same code shows them."""
    notebook = nbformat.reads(
        (graded.root / "submitted/tells_the_hidden_inputs" / FOLDER / f"{FOLDER}.ipynb").read_text(), 4
    )
    source = "\n".join(c.source for c in notebook.cells if c.id.startswith("write_"))
    handed_in = Submission(f"import torch\n{source}", "own.py")
    result = grading.result(catalog.find("03"), handed_in, fork_server, Settings(seed=SEED, reveal=True))
    first = Random(SEED, "fresh_context_vectors").randn(5, 2)[0, 0].item()
    assert f"{first:.4f}" in result.output


def test_the_secret_of_a_run_is_in_nothing_that_it_leaves(graded):
    """With nbgrader's own commands, from autograde to the feedback."""
    exported = graded.nbgrader("export")
    told = [getattr(done, stream) for done in (*graded.outputs, exported) for stream in ("stdout", "stderr")]
    left = [path.read_bytes() for path in graded.root.rglob("*") if path.is_file()] + [text.encode() for text in told]
    for number in (SEED, SEED - seeds_of.SECRET, seeds_of.torch_seed(SEED)):
        for sign in (f"{number}".encode(), f"{number:x}".encode()):
            assert not any(sign in text for text in left)
