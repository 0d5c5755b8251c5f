"""Every exercise: right answers get full points, for many seeds.

That each style is right, the stub not started, mistakes are rejected and named, and the parts are there, is proved by
`make verify` with one seed.
"""

import re

import pytest
from thorough import THOROUGH, sample

from grader import catalog
from grader.catalog import paths
from grader.cli import reference
from grader.judge import grading
from grader.records import submission
from grader.records.results import Settings

EXERCISES = catalog.exercises()
STYLES = sample([style for exercise in EXERCISES for style in sample(paths.styles(exercise.folder), 1)], 6)
SOLUTIONS = sample(EXERCISES, 12)  # one seed more than that of `make verify`, which grades all of them at each push
SEEDS = range(20, 40 if THOROUGH else 21)  # others than those of `make verify`
CORE_POINTS = 100
READY_MADE = re.compile(r"\b(?:torch|F)\.softmax\(")


def grade(folder, path, fork_server, seed):
    exercise = catalog.find(folder)
    return grading.result(exercise, submission.read(path), fork_server, Settings(seed=seed))


def report(result) -> str:
    return "\n".join(f"{check.id}: {check.message}" for check in result.checks if check.outcome != "passed")


def solution_of(exercise) -> str:
    return paths.solution(exercise.folder).read_text("utf-8")


@pytest.mark.parametrize("style", STYLES, ids=lambda path: f"{path.parent.parent.name}-{path.stem}")
def test_right_in_this_style(style, fork_server):
    for seed in SEEDS:
        result = grade(style.parent.parent.name, style, fork_server, seed)
        assert result.status == "passed", report(result)


@pytest.mark.parametrize("exercise", SOLUTIONS, ids=lambda exercise: exercise.folder)
def test_the_solution_is_right_for_many_seeds(exercise, fork_server):
    for seed in SEEDS:
        result = grade(exercise.folder, paths.solution(exercise.folder), fork_server, seed)
        assert result.status == "passed", report(result)


@pytest.mark.parametrize(
    "exercise", [one for one in EXERCISES if READY_MADE.search(solution_of(one))], ids=lambda exercise: exercise.folder
)
def test_a_softmax_by_logsumexp_is_right(exercise, fork_server):
    """It differs from torch's by the rounding of large scores."""
    own = "import torch\n\ndef own_softmax(x, dim=-1):\n    return (x - torch.logsumexp(x, dim, keepdim=True)).exp()\n"
    source = READY_MADE.sub("own_softmax(", solution_of(exercise)).replace("import torch\n", own, 1)
    result = grading.result(exercise, submission.Submission(source, "own.py"), fork_server, Settings(seed=8))
    assert result.status == "passed", report(result)


def test_the_seeds_are_100_points():
    assert (
        sum(exercise.max_points for exercise in EXERCISES if exercise.path.name == "to GPT-2's attention")
        == CORE_POINTS
    )


def test_the_readme_lists_every_lesson_by_path():
    """With the hours of each path, and what one can do after it and after each lesson."""
    readme = paths.at_root("README.md").read_text("utf-8")
    assert readme == reference.readme(readme), "type: python -m grader.cli.reference"
    assert reference.LESSONS.search(readme)[0] == reference.lessons()
    lines = [line for line in reference.lessons().splitlines() if line.startswith("  - [")]
    assert len(lines) == len(EXERCISES) and all(len(line.rpartition("): ")[2]) > 20 for line in lines)
    assert all(paths.still(exercise.folder).exists() for exercise in EXERCISES)


def test_the_readme_has_badges_as_soon_as_the_address_is_known(monkeypatch):
    """Before, they would lead nowhere."""
    readme = paths.at_root("README.md").read_text("utf-8")
    for address, is_known in (
        ("https://github.com/ada/attention-kata", True),
        ("https://github.com/…/attention-kata", False),
    ):
        monkeypatch.setattr(reference.project, "published", lambda address=address: address)
        made = reference.readme(readme)
        above_the_fold = made.partition("\n## ")[0].partition("docs/watch.svg")[0]
        for place in ("https://codespaces.new/ada/", "https://colab.research.google.com/github/ada/"):
            assert (place in above_the_fold) == is_known
        assert f"git clone {address}" in made


def test_the_page_of_commands_is_that_of_the_declarations():
    written = paths.COMMANDS.read_text("utf-8")
    assert written == reference.commands(), "type: python -m grader.cli.reference"


def test_every_exercise_is_in_one_path():
    listed = [number for path in catalog.learning_paths() for number in path.numbers]
    assert len(listed) == len(set(listed)) and {exercise.folder[:2] for exercise in EXERCISES} <= set(listed)
