"""`verify` itself: a small exercise that is in order, and each way in which it can be out of order."""

import json
import shutil

import pytest

from grader import paths

FOLDER = "77_double"
SOLUTION = '''"""Exercise 77: Double."""

import torch


def double(x: torch.Tensor) -> torch.Tensor:
    """Twice x, of any shape."""
    # Task 1: double it
    return 2 * x
'''
WRONG = '''"""{sentence}"""

import torch


def double(x):
    {body}
'''
MISTAKES = {
    "added_two": ("The function adds 2: twice means a product, not a sum.", "return x + 2"),
    "squared": ("The function squares: twice means times 2, not times itself.", "return x * x"),
    "tripled": ("The function takes x three times: count the terms of the sum.", "return x + x + x"),
    "first_row_only": ("Only the first row is doubled: the others go in too.", "return torch.cat([2 * x[:1], x[1:]])"),
    "in_place": ("The input itself is doubled: make a new tensor instead.", "return x.mul_(2)"),
}
DOCUMENTED = """[[number]]
id = "four"
source = "arithmetic"
place = "first page"
check = "documented_double"
printed = "[4.0]"
"""
SHOWN = '''"""Shown."""

import torch

from grader.authors import expect, task


@task(1)
def test_documented_double(learner, documented):
    """Twice 2 is 4."""
    expect(learner.double(torch.tensor([2.0])), documented["four"])
'''
HIDDEN = '''"""Hidden."""

from grader.authors import agrees, keeps_inputs, task


@task(1)
def test_fresh_double(learner, reference, rng):
    """double is right on new inputs."""
    agrees(learner.double, reference.double, rng.randn(3, 2))


@task(1)
def test_inputs_unchanged(learner, rng):
    """The inputs are left as they were."""
    keeps_inputs(learner.double, rng.randn(3))
'''
TOML = 'title = "Double"\ntrack = "core"\n\n[points]\ndocumented_double = 1\nfresh_double = 1\ninputs_unchanged = 1\n'


@pytest.fixture
def house(tmp_path):
    """A checkout that holds one small exercise, in order."""
    ignore = shutil.ignore_patterns("__pycache__", "[0-9][0-9]_*")
    shutil.copytree(paths.GRADER, tmp_path / "grader", ignore=ignore)
    wrong = {
        f"solutions/{FOLDER}/wrong/{name}.py": WRONG.format(sentence=s, body=b) for name, (s, b) in MISTAKES.items()
    }
    files = {
        f"solutions/{FOLDER}/double.py": SOLUTION,
        f"exercises/{FOLDER}/README.md": "# 77 Double\n",
        f"exercises/{FOLDER}/hints.md": "# Hints\n",
        f"grader/checks/{FOLDER}/exercise.toml": TOML,
        f"grader/checks/{FOLDER}/documented.toml": DOCUMENTED,
        f"grader/checks/{FOLDER}/test_documented.py": SHOWN,
        f"grader/checks/{FOLDER}/test_double.py": HIDDEN,
        **wrong,
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def kills_of(house):
    return house / "solutions" / FOLDER / "wrong" / "kills.json"


def change(path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_an_exercise_in_order_passes_and_shows_its_table(house, cli):
    assert cli("stub", "77", cwd=house).returncode == 0
    done = cli("verify", "77", "--write", cwd=house)
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(kills_of(house).read_text())["in_place"] == ["inputs_unchanged"]
    done = cli("verify", "77", cwd=house)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "| inputs_unchanged |   |   | ✗ |   |   |" in done.stdout
    assert "5. `tripled`: The function takes x three times" in done.stdout


def test_a_table_of_kills_that_is_not_current_is_told_and_names_nothing_wrong(house, cli):
    cli("stub", "77", cwd=house)
    kills_of(house).write_text(json.dumps({name: [] for name in MISTAKES}))
    done = cli("verify", "77", cwd=house)
    assert done.returncode == 1 and "kills.json is not current. Make it anew: make verify EX=77 WRITE=1" in done.stderr
    assert "5. `tripled`: The function takes x three times" in done.stdout  # each was named all the same


@pytest.mark.parametrize(
    ("file", "old", "new", "words"),
    [
        ("exercises/77_double/double.py", "Twice x", "Thrice x", "differs from the solution in more than bodies"),
        ("exercises/77_double/README.md", "Double", "TODO", "the lesson is missing or still holds a TODO"),
        ("solutions/77_double/double.py", "return 2 * x", "return 3 * x", "the solution does not pass"),
        ("solutions/77_double/wrong/tripled.py", "x + x + x", "x + x", "this wrong version passes every check"),
        ("solutions/77_double/wrong/tripled.py", "x + x + x", "x * x", "is another: "),
        ("solutions/77_double/wrong/tripled.py", "the sum.", "the sum", "is no sentence to a learner"),
        ("solutions/77_double/wrong/tripled.py", "return x + x + x", "raise NotImplementedError", "not judged at all"),
        ("solutions/77_double/wrong/in_place.py", "x.mul_(2)", "x - 1", "no wrong version fails the check inputs"),
        ("grader/checks/77_double/documented.toml", 'id = "four"', 'id = "five"', "KeyError"),
        ("grader/checks/77_double/exercise.toml", "fresh_double = 1\n", "", "do not agree on fresh_double"),
        ("grader/checks/77_double/test_double.py", "def test_fresh", "deff test_fresh", "cannot be read"),
    ],
)
def test_each_disorder_stops_verify_with_one_sentence(house, cli, file, old, new, words):
    cli("stub", "77", cwd=house)
    change(house / file, old, new)
    done = cli("verify", "77", cwd=house)
    assert done.returncode in (1, 3), done.stdout
    assert words in done.stderr, done.stderr
    assert "Traceback" not in done.stderr and len(done.stderr.strip().splitlines()) == 1


def test_a_documented_number_that_no_check_looks_at(house, cli):
    cli("stub", "77", cwd=house)
    change(house / "grader/checks/77_double/test_documented.py", 'documented["four"]', "torch.tensor([4.0])")
    done = cli("verify", "77", cwd=house)
    assert done.returncode == 1 and "no check looks at the number four" in done.stderr


def test_a_learners_bundle_has_no_hidden_checks_and_still_grades(house, cli):
    (house / "grader/checks/77_double/test_double.py").unlink()
    shutil.rmtree(house / "solutions")
    right = house / "right.py"
    right.write_text(SOLUTION)
    done = cli("check", "77", "--submission", right, cwd=house)
    assert done.returncode == 0, done.stdout + done.stderr
