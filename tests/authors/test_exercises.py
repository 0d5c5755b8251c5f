"""Every exercise: right answers get full points, for many seeds.

That each style is right, the stub not started, mistakes are rejected and named, and the parts are there, is proved by
`make verify` with one seed.
"""

import re
import runpy
from types import SimpleNamespace

import pytest
from sources import solution
from thorough import THOROUGH, sample

from grader import catalog
from grader.catalog import paths
from grader.judge import grading
from grader.records import submission
from grader.records.results import Settings

pytestmark = pytest.mark.slow

reference = SimpleNamespace(**runpy.run_path(str(paths.ROOT / ".ci/reference.py")))
EXERCISES = catalog.exercises()
SEEDS = range(20, 40 if THOROUGH else 21)  # others than those of `make verify`
READY_MADE = re.compile(r"\b(?:torch|F)\.softmax\(")
RIGHT = [(one.folder, paths.solution(one.folder)) for one in sample(EXERCISES, 4)]
RIGHT += [(one.folder, style) for one in sample(EXERCISES, 3) for style in sample(paths.styles(one.folder), 1)]


def report(result) -> str:
    return "\n".join(f"{check.id}: {check.message}" for check in result.checks if check.outcome != "passed")


@pytest.mark.parametrize(("folder", "path"), RIGHT, ids=lambda value: getattr(value, "stem", value))
def test_a_right_answer_is_right_for_many_seeds(folder, path, fork_server):
    """For one seed `make verify` proves it at each push, of all of them."""
    for seed in SEEDS:
        result = grading.result(catalog.find(folder), submission.read(path), fork_server, Settings(seed=seed))
        assert result.status == "passed", report(result)


@pytest.mark.parametrize(
    "exercise",
    sample([one for one in EXERCISES if READY_MADE.search(solution(one.folder))], 2),
    ids=lambda one: one.folder,
)
def test_a_softmax_by_logsumexp_is_right(exercise, fork_server):
    """It differs from torch's by the rounding of large scores."""
    own = "import torch\n\ndef own_softmax(x, dim=-1):\n    return (x - torch.logsumexp(x, dim, keepdim=True)).exp()\n"
    source = READY_MADE.sub("own_softmax(", solution(exercise.folder)).replace("import torch\n", own, 1)
    result = grading.result(exercise, submission.Submission(source, "own.py"), fork_server, Settings(seed=8))
    assert result.status == "passed", report(result)


def test_the_seeds_are_100_points():
    assert sum(one.max_points for one in EXERCISES if one.path.name == "to GPT-2's attention") == 100


def test_the_readme_lists_every_lesson_by_path():
    """With the hours of each path, and what one can do after it and after each lesson."""
    readme = paths.at_root("README.md").read_text("utf-8")
    assert readme == reference.readme(readme), "type: python .ci/reference.py"
    lines = [line for line in reference.lessons().splitlines() if line.startswith("  - [")]
    assert len(lines) == len(EXERCISES) and all(len(line.rpartition("): ")[2]) > 20 for line in lines)
    assert all(paths.still(exercise.folder).exists() for exercise in EXERCISES)


def test_the_page_of_commands_is_that_of_the_declarations():
    written = (paths.DOCS / "commands.md").read_text("utf-8")
    assert written == reference.commands(), "type: python .ci/reference.py"
