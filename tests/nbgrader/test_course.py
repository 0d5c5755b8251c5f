"""The course that is made: whole, gradable, and without anything hidden."""

import ast
import contextlib
import io
import re
import types
from pathlib import Path

import pytest
import torch
from a_course import FOLDER, cell
from extras import WhenUsed, needed
from thorough import sample

from grader import catalog
from grader.catalog import mistakes, paths
from grader.judge import grading
from grader.records.results import NOT_CHECKED, PASSED, Settings
from grader.records.submission import Submission

pytestmark = pytest.mark.slow

needed("nbgrader", "classroom")
nbformat = WhenUsed("nbformat")
course, of_cells = (WhenUsed(f"grader.integrations.nbgrader.{name}") for name in ("course", "cells"))

EXERCISES = sample(catalog.exercises(), 9)

CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.M | re.S)
TARGET = re.compile(r"\]\((?!https?:|#)([^)\s#]+)")


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """A course of these exercises. Not to be changed."""
    root = tmp_path_factory.mktemp("made")
    course.make(root, EXERCISES)
    return root / "source"


@pytest.fixture(scope="module")
def notebooks(made):
    """Its source notebooks, by folder."""
    return {e.folder: nbformat.read(made / e.folder / f"{e.folder}.ipynb", nbformat.NO_CONVERT) for e in EXERCISES}


def in_notebook(exercise, source: str) -> dict[str, bool]:
    """Which documented checks pass as documented_checks.py runs them."""
    module = types.ModuleType("documented_checks")
    module.__file__ = str(
        paths.trained(exercise.folder).with_name(course.PUBLIC_NAME)
    )  # beside the model, as in a course
    exec(compile(course.public_source(exercise), course.PUBLIC_NAME, "exec"), module.__dict__)
    learner = {"__name__": "__main__"}
    passed = {}
    with contextlib.redirect_stdout(io.StringIO()), torch.enable_grad():  # a mistake may switch gradients off for good
        exec(source, learner)
        for number, checks in module.TASKS.items():
            for check in checks:
                module.__dict__["TASKS"] = {number: [check]}
                try:
                    module.run(number, learner)
                    passed[check.__name__.removeprefix("test_")] = True
                except Exception:
                    passed[check.__name__.removeprefix("test_")] = False
    return passed


def test_a_notebook_holds_the_lesson_with_what_it_links_to_and_every_point(notebooks, made):
    for exercise in EXERCISES:
        notebook, lesson = notebooks[exercise.folder], course.lesson(exercise.folder)
        nbformat.validate(notebook)
        told = "\n\n".join(c.source for c in notebook.cells if c.cell_type == "markdown")
        assert sorted(told.split()) == sorted(lesson.split())
        assert re.findall(r"`(?:make|kata) [a-z]+[^`]*`(?! \(in a clone of the project\))", lesson) == []
        targets = set(TARGET.findall(CODE.sub("", told)))
        assert "promises.md" in targets and all((made / exercise.folder / one).is_file() for one in targets)
        graded = [c.metadata.nbgrader for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade")]
        assert sum(about.points for about in graded) == pytest.approx(exercise.max_points)
        assert len({of_cells.task_id(about.grade_id) for about in graded} - {None}) == len(graded) > 0


def body(source: str) -> str:
    """A source in one form, without its docstring and comments."""
    tree = ast.parse(source)
    return ast.unparse(tree.body[1:] if ast.get_docstring(tree) else tree.body)


def test_it_is_the_solution_and_without_its_regions_the_stub(notebooks):
    for exercise in EXERCISES:
        lines, left, inside = [], [], False
        for c in notebooks[exercise.folder].cells:
            if c.cell_type != "code" or c.metadata.get("nbgrader", {}).get("locked"):
                continue
            for line in c.source.splitlines():
                lines.append(line)
                if "### BEGIN SOLUTION" in line:
                    left.append(line.replace("### BEGIN SOLUTION", "raise NotImplementedError"))
                inside = (inside or "### BEGIN SOLUTION" in line) and "### END SOLUTION" not in line
                if not inside and "### " not in line:
                    left.append(line)
        assert body("\n".join(lines)) == body(paths.solution(exercise.folder).read_text("utf-8")), exercise.folder
        assert body("\n".join(left)) == body(paths.stub(exercise.folder).read_text("utf-8")), exercise.folder


@pytest.mark.parametrize("exercise", sample(EXERCISES, 3), ids=lambda exercise: exercise.folder)
def test_documented_checks_judge_as_the_grader_does(exercise, fork_server):
    """The solution, the stub, and a few wrong versions: in a notebook and in the grader the same checks pass."""
    sources = {
        path.name: path.read_text("utf-8") for path in (paths.solution(exercise.folder), paths.stub(exercise.folder))
    }
    sources |= {mistake.name: mistake.source for mistake in sample(mistakes.mistakes(exercise.folder), 2)}
    for name, source in sources.items():
        result = grading.result(exercise, Submission(source, name), fork_server, Settings(seed=1, diagnose=False))
        # A notebook shows each task by itself: what waits for another check in the grader runs there.
        judged = [check for check in result.checks if not check.hidden and check.outcome != NOT_CHECKED]
        found = in_notebook(exercise, source)
        assert {check.id: found[check.id] for check in judged} == {
            check.id: check.outcome == PASSED for check in judged
        }, name


def test_nothing_hidden_is_released(notebooks):
    """No line of a hidden check that is longer than a few words stands in what is made from it."""
    for exercise in EXERCISES:
        source = course.public_source(exercise)
        made = nbformat.writes(notebooks[exercise.folder]) + source
        public_text = paths.documented_checks(exercise.folder).read_text("utf-8") + source
        hidden = "\n".join(path.read_text("utf-8") for path in paths.checks(exercise.folder)[1:])
        secret = [line.strip() for line in hidden.splitlines() if len(line.strip()) > 50]
        secret = [line for line in secret if line not in public_text and not line.startswith(("#", "from", "import"))]
        assert len(secret) > 5
        assert [line for line in secret if line in made] == [], exercise.folder


def test_validate_and_autograde_say_the_same_of_notebooks_as_people_have_them(classroom):
    """What fails beside the exercise costs nothing anywhere; a mistake is one everywhere."""
    scratch = [
        "from importlib.metadata import version\nversion('torch')",
        "import pandas_that_nobody_has as pd\npd.DataFrame()",
        "    # indented as a whole\n    x = 3",
        "def broken(:",
        "display(undefined)",
        "assert x == 4, 'my own test'",
        "name = input()",
    ]
    right, wrong = classroom.solved(), classroom.solved()
    written = cell(wrong, "write_context_vectors")
    written.source = written.source.replace("attention_weights(inputs) @", "attention_weights(inputs).T @")
    cell(wrong, "write_context_vector").source = cell(classroom.released(), "write_context_vector").source
    notebooks, told = {"right": right, "wrong": wrong}, {}
    for student, notebook in notebooks.items():
        notebook.cells[2:2] = [nbformat.v4.new_code_cell(source) for source in scratch]
        classroom.submit(student, notebook)
    classroom.nbgrader("autograde", FOLDER)
    (classroom.root / "nbgrader_config.py").unlink()  # as on the student's side, where there is no grader
    for student in notebooks:
        scores = classroom.scores(student)
        full = sum(scores.values()) == pytest.approx(catalog.find("03").max_points)
        path = f"submitted/{student}/{FOLDER}/{FOLDER}.ipynb"
        told[student] = classroom.nbgrader("validate", path).stdout
        validated = told[student].startswith("Success! Your notebook passes all the tests.")
        assert "grader/" not in told[student] and "Traceback" not in told[student]
        assert full == validated == (student == "right"), (scores, validated)
    assert "FAILED ON 2 CELL" in told["wrong"] and "not written yet" in told["wrong"]
    assert "The context vectors of all six tokens match the printed numbers." in told["wrong"]
