"""The command line as its users call it: verbs, options, exit codes, and what is said."""

import json
import os
import shutil
import xml.etree.ElementTree as ElementTree

import pytest

from grader import catalog, paths
from grader.worker.trees import describe

GOLDEN = paths.ROOT / "tests" / "golden"
RIGHT = GOLDEN / "right_answer" / "submission.py"
WRONG = GOLDEN / "returns_none" / "submission.py"


def test_exit_codes(cli):
    assert cli("check", "03", "--submission", RIGHT).returncode == 0
    assert cli("check", "03", "--submission", WRONG).returncode == 1
    assert cli("check", "99").returncode == 2
    if not os.path.exists("/dev/nvidia0"):
        asked = cli("check", "03", "--device", "cuda", "--submission", RIGHT)
        assert asked.returncode == 3 and "no CUDA device" in asked.stderr


@pytest.mark.parametrize("name", ["3", "03", "context_vectors", "03_context_vectors", "exercises/03_context_vectors/"])
def test_every_name_of_an_exercise(cli, name):
    assert catalog.find(name).folder == "03_context_vectors"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["check", "99"], 'No exercise is called "99"'),
        (["check", "contxt_vectors"], 'Did you mean "context_vectors"?'),
        (["check", "03", "--seed", "many"], "invalid int value"),
        (["check", "03", "--device", "tpu"], "invalid choice"),
        (["check", "03", "--timeout", "0"], "0 is out of range"),
        (["check", "03", "--frobnicate"], "unrecognized arguments"),
        (["check", "--submission", "x.py"], "--submission needs an exercise"),
        (["chekc"], "invalid choice"),
        (["new", "3", "other"], "is there already"),
        (["new", "22", "No Slug"], "is no slug"),
        (["stub", "99"], "No exercise is called"),
    ],
)
def test_wrong_use_says_what_to_type_instead(cli, arguments, words):
    done = cli(*arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_json_is_what_the_readme_documents(cli):
    done = cli("check", "03", "--submission", RIGHT, "--seed", 7, "--format", "json")
    result = json.loads(done.stdout)
    exercise = catalog.find("03")
    promised = "schema exercise device seed status points max_points duration_s checks output"
    assert set(promised.split()) <= set(result)
    assert (result["schema"], result["exercise"], result["device"], result["seed"]) == (1, exercise.folder, "cpu", 7)
    assert result["status"] == "passed"
    assert result["points"] == result["max_points"] == exercise.max_points
    assert [check["id"] for check in result["checks"]] == list(exercise.points)
    for check in result["checks"]:
        assert set(check) == {
            "id",
            "title",
            "outcome",
            "points",
            "max_points",
            "message",
            "diagnosis",
            "hidden",
            "task",
        }
        assert check["outcome"] == "passed" and check["points"] == exercise.points[check["id"]]
        assert check["hidden"] == (not check["id"].startswith("documented"))


def test_the_same_seed_gives_the_same_verdict_to_the_digit(cli):
    one, two = (
        json.loads(cli("check", "03", "--submission", WRONG, "--seed", 3, "--format", "json").stdout) for _ in range(2)
    )
    one.pop("duration_s"), two.pop("duration_s")
    assert one == two


def test_junit_is_read_by_an_xml_parser(cli, tmp_path):
    report = tmp_path / "report.xml"
    done = cli("check", "03", "--submission", WRONG, "--format", "junit", "--output", report)
    suite = ElementTree.parse(report).getroot()
    exercise = catalog.find("03")
    assert suite.attrib["tests"] == str(len(exercise.points)) == str(len(suite.findall("testcase")))
    assert int(suite.attrib["failures"]) == len(suite.findall("testcase/failure")) > 0
    assert done.returncode == 1
    assert "points · failed" in done.stdout  # a person still reads the verdict


def test_output_that_cannot_be_written(cli, tmp_path):
    done = cli("check", "03", "--submission", RIGHT, "--output", tmp_path / "no" / "such" / "folder.txt")
    assert done.returncode == 2 and "cannot be written" in done.stderr


def test_a_pipe_gets_no_colours_and_no_wrapped_lines(cli):
    done = cli("check", "03", "--submission", WRONG, env={**os.environ, "COLUMNS": "40"})
    assert "\x1b" not in done.stdout
    assert any(len(line) > 80 for line in done.stdout.splitlines())


def test_documented_lists_every_number_with_its_check(cli):
    listed = json.loads(cli("documented", "--format", "json").stdout)
    assert len(listed) > 5
    for number in listed:
        assert set(number) == {"id", "source", "place", "exercise", "check", "printed"}
        assert number["check"] in catalog.find(number["exercise"]).points


@pytest.fixture
def checkout(tmp_path):
    """A copy of what a learner has, to work in."""
    for name in ("exercises", "solutions", "grader"):
        shutil.copytree(paths.ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def test_a_learner_walks_from_stub_to_done(cli, checkout):
    stub = checkout / "exercises" / "03_context_vectors" / "context_vectors.py"
    untouched = cli("check", "03", cwd=checkout)
    assert untouched.returncode == 1
    assert untouched.stdout == "not started yet: open exercises/03_context_vectors/context_vectors.py\n"
    shutil.copy(WRONG, stub)
    assert cli("check", "03", cwd=checkout).returncode == 1
    rows = json.loads(cli("list", "--format", "json", cwd=checkout).stdout)["exercises"]
    assert {row["exercise"]: row["status"] for row in rows}["03_context_vectors"] == "begun"
    shutil.copy(RIGHT, stub)
    assert cli("check", "03", cwd=checkout).returncode == 0
    rows = json.loads(cli("progress", "--format", "json", cwd=checkout).stdout)["exercises"]
    row = next(row for row in rows if row["exercise"] == "03_context_vectors")
    assert (row["status"], row["attempts"]) == ("passed", 2)
    assert row["points"] == row["max_points"]
    assert "03 Context vectors" in cli("list", cwd=checkout).stdout
    assert "| passed |" in cli("list", "--format", "md", cwd=checkout).stdout


def test_check_without_an_exercise_takes_the_first_that_is_not_done(cli, checkout):
    first, second = (exercise.folder for exercise in catalog.exercises()[:2])
    assert f"open exercises/{first}/" in cli("check", cwd=checkout).stdout
    stub = checkout / "exercises" / first / f"{paths.slug(first)}.py"
    shutil.copy(paths.solution(first), stub)
    assert cli("check", cwd=checkout).returncode == 0
    assert f"open exercises/{second}/" in cli("check", cwd=checkout).stdout


@pytest.mark.parametrize("content", ["{", "[]", '{"schema": 99}', '{"schema": 1, "exercises": {"03": 5}}', "\x00"])
def test_a_damaged_history_is_set_aside(cli, checkout, content):
    (checkout / ".kata-progress.json").write_text(content)
    done = cli("list", cwd=checkout)
    assert done.returncode == 0 and "not started" in done.stdout
    assert (checkout / ".kata-progress.json.damaged-1").read_text() == content


def test_a_new_exercise_is_refused_by_verify_until_it_is_filled(cli, checkout):
    made = cli("new", "77", "my_exercise", cwd=checkout)
    assert made.returncode == 0 and "wrote exercises/77_my_exercise/README.md" in made.stdout
    assert cli("stub", "77", cwd=checkout).returncode == 0
    refused = cli("verify", "77", cwd=checkout)
    assert refused.returncode == 1
    assert "still holds a TODO" in refused.stderr and "make verify EX=77" in refused.stderr


def test_stub_does_not_overwrite_a_learners_work(cli, checkout):
    stub = checkout / "exercises" / "03_context_vectors" / "context_vectors.py"
    shutil.copy(RIGHT, stub)
    done = cli("stub", "03", cwd=checkout)
    assert done.returncode == 2 and "has been filled in" in done.stderr
    assert stub.read_text() == RIGHT.read_text()


def test_values_are_named_without_running_their_code():
    class Loud:
        def __repr__(self):
            raise AssertionError("ran")

    assert describe(Loud()) == "a Loud"
