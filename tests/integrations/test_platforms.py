"""What Gradescope and Classroom 50 are given fits what they publish, and their entries are really run."""

import datetime
import io
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from platform_results import EXERCISE, fits, result

from grader import catalog
from grader.catalog import mistakes, paths
from grader.catalog.errors import WrongUse
from grader.classroom.marks import PERSON, Mark
from grader.cli.options import VISIBLE
from grader.integrations import bundle, classroom50, gradescope
from grader.integrations.one_student import Graded

pytestmark = pytest.mark.slow

BROKEN, MISNAMED, FIRST = catalog.find("02"), catalog.find("04"), catalog.for_class()[0].folder
RUNNER = {
    "CLASSROOM": "deep", "ASSIGNMENT": "attention", "USERNAME": "ada", "SUBMISSION_TAG": "submit/2026-01-01-abc",
    "COMMIT_URL": "https://x/commit/1", "RELEASE_URL": "https://x/releases/1", "REVIEW_URL": "",
}  # fmt: skip
NOW = datetime.datetime(2026, 6, 1, 12, 0, tzinfo=datetime.timezone.utc)


def run(command: list, folder: Path, environment: dict) -> subprocess.CompletedProcess:
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=900, check=False
    )


def graded(*results) -> Graded:
    return Graded(tuple((EXERCISE, one) for one in results), (Mark(PERSON, None, "", "x.pdf", "neither"),), 1.5)


# Gradescope.


def test_gradescope_results():
    hidden = VISIBLE[-1]
    content = gradescope.results(graded(result(), None, result(status="error", message="SyntaxError")), hidden)
    fits(content, "gradescope")
    first, second, third, missing, *_ = content["tests"]
    assert (first["status"], first["score"], first["max_score"], first["visibility"]) == ("passed", 0.5, 0.5, "visible")
    assert (second["status"], second["score"], second["visibility"]) == ("failed", 0.0, hidden)
    assert third["status"] == "failed" and "first fix" in third["output"]
    assert missing["max_score"] == EXERCISE.max_points
    assert missing["output"].startswith("expected context_vectors.py or context_vectors.ipynb, found x.pdf.")
    assert "SyntaxError" in content["output"] and "x.pdf" in content["output"]
    assert sum(test["max_score"] for test in content["tests"]) == 1.75 * 2 + EXERCISE.max_points
    fits(gradescope.failure("no sandbox."), "gradescope")


@pytest.fixture(scope="module")
def autograder(tmp_path_factory) -> Path:
    """/autograder as Gradescope lays it out: the zip in source/, run_autograder beside it. BROKEN's checks are."""
    root = tmp_path_factory.mktemp("autograder")
    exercises = [EXERCISE, catalog.find("01"), BROKEN, MISNAMED]
    zipped = gradescope.package(exercises, "visible", None)
    assert zipped == gradescope.package(exercises, "visible", None)
    with zipfile.ZipFile(io.BytesIO(zipped)) as archive:
        archive.extractall(root / "source")
        assert {"setup.sh", "run_autograder"} <= set(archive.namelist())  # in the root of the zip
        assert all(archive.getinfo(name).external_attr >> 16 & 0o111 for name in gradescope.SCRIPTS)
    (root / "source/kata/grader/checks" / BROKEN.folder / f"test_{BROKEN.slug}.py").write_text("broken(\n")
    shutil.copy(root / "source/run_autograder", root)
    (root / "run_autograder").chmod(0o755)
    (root / "results").mkdir()
    return root


def run_autograder(root: Path, files: dict[str, str], python: str = sys.executable) -> dict:
    shutil.rmtree(root / "submission", ignore_errors=True)
    for name, content in files.items():
        (root / "submission" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / "submission" / name).write_text(content)
    environment = {**os.environ, "AUTOGRADER": str(root), "PYTHON": python}
    done = run([root / "run_autograder"], root, environment)
    assert done.returncode == 0, done.stdout + done.stderr
    content = json.loads((root / "results/results.json").read_text())
    fits(content, "gradescope")
    assert os.listdir(root / "results") == ["results.json"]
    return content


def test_run_autograder_grades_also_where_checks_are_broken(autograder):
    content = run_autograder(
        autograder,
        {
            "context_vectors.py": paths.solution(EXERCISE.folder).read_text(),
            "hw/01_dot_product_scores/dot_product_scores.py": mistakes.mistakes(FIRST)[0].source,
            "softmax_naive.py": paths.solution(BROKEN.folder).read_text(),
            "tokn_embeddings.py": paths.solution(MISNAMED.folder).read_text(),
        },
    )
    of = {number: [t for t in content["tests"] if t["number"].startswith(number)] for number in ("01", "03")}
    assert sum(test["score"] for test in of["03"]) == EXERCISE.max_points
    assert 0 < sum(test["score"] for test in of["01"]) < catalog.find("01").max_points
    assert any("Probably: " in test["output"] for test in of["01"])
    assert not any("  expected  " in test["output"] for test in content["tests"])
    assert "not graded" in content["output"]
    (whole,) = [test for test in content["tests"] if test["number"].startswith("02")]
    assert (whole["score"], whole["max_score"]) == (0, BROKEN.max_points) and "not graded" in whole["output"]
    (missing,) = [test["output"] for test in content["tests"] if test["number"].startswith("04")]
    assert "expected token_embeddings.py or token_embeddings.ipynb, found tokn_embeddings.py." in missing
    assert "tokn_embeddings.py" in content["output"] and "EX=" not in json.dumps(content)  # a student has none to type


def test_what_is_packed_ends_its_lines_as_linux_does_but_a_model():
    """In a checkout with Windows line endings, which run_autograder would not start with."""
    packed = zipfile.ZipFile(io.BytesIO(bundle.zip_files({"a.sh": b"a\r\nb\r\n", "trained.pt": b"PK\0\r\n"})))
    assert (packed.read("a.sh"), packed.read("trained.pt")) == (b"a\nb\n", b"PK\0\r\n")


def test_a_clone_on_windows_has_the_same_line_endings():
    files = subprocess.run(["git", "ls-files"], cwd=paths.ROOT, capture_output=True, text=True, check=True).stdout
    asked = subprocess.run(
        ["git", "check-attr", "--stdin", "eol"], cwd=paths.ROOT, input=files, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert len(asked) == len(files.splitlines()) and all(line.endswith("eol: lf") for line in asked)


def test_run_autograder_after_a_crash_of_ours(autograder, tmp_path):
    """Python is not there, dies at once, or is killed: results.json is there and valid all the same."""
    crash = tmp_path / "python"
    for script in ("exit 70", "kill -9 $$"):
        crash.write_text(f"#!/bin/sh\n{script}\n")
        crash.chmod(0o755)
        content = run_autograder(autograder, {"context_vectors.py": "x = 1\n"}, str(crash))
        assert content["score"] == 0 and "not graded" in content["output"] and "tests" not in content
    assert run_autograder(autograder, {"a.py": ""}, "/no/such/python")["score"] == 0


# Classroom 50.


def test_classroom50_result():
    content = classroom50.result(graded(result(), None), RUNNER, NOW)
    fits(content, "classroom50-result-v1")
    assert [test["score"] for test in content["tests"]] == [2, 0, 0, 0]
    assert content["score"] == 2 and content["max-score"] == 7 + 28
    assert content["review"] == RUNNER["COMMIT_URL"] and content["owner"] == "ada"
    assert classroom50.result(graded(), RUNNER | {"OWNER": "bob", "ASSIGNMENT_TYPE": "group"}, NOW)["owner"] == "bob"
    for name in ("CLASSROOM", "SUBMISSION_TAG", "USERNAME"):
        with pytest.raises(WrongUse, match=name):
            classroom50.result(graded(result()), {k: v for k, v in RUNNER.items() if k != name}, NOW)


def test_all_points_are_whole_there():
    for exercise in catalog.exercises():
        for points in exercise.points.values():
            assert classroom50.scale(points) == points * classroom50.SCALE


def test_the_commands_write_what_is_really_run(tmp_path, said):
    assert said("gradescope", "03", "--output", tmp_path / "a.zip").returncode == 0
    assert zipfile.ZipFile(tmp_path / "a.zip").testzip() is None
    assert said("gradescope", "99", "--output", tmp_path / "a.zip").returncode == 2
    here, checkout = tmp_path / "autograders/attention", tmp_path / "checkout"
    done = said("classroom50", "03", "--output", here)
    assert done.returncode == 0 and "autograders" in done.stdout
    assert sorted(os.listdir(here)) == ["autograder.py", "exercises.txt", "kata.zip"]
    checkout.mkdir()
    (checkout / "assignment3.py").write_text(  # of one exercise the only file needs no name
        paths.solution(EXERCISE.folder).read_text()
    )

    def autograde(about: dict) -> int:
        environment = {k: v for k, v in os.environ.items() if k not in RUNNER} | about
        return run([sys.executable, here / "autograder.py"], checkout, environment).returncode

    assert autograde(RUNNER) == 0
    content = json.loads((checkout / "result.json").read_text())
    fits(content, "classroom50-result-v1")
    assert content["score"] == content["max-score"] == 10
    assert not any(name.startswith("solutions/") for name in zipfile.ZipFile(here / "kata.zip").namelist())
    (checkout / "result.json").unlink()
    assert autograde({}) != 0 and not (checkout / "result.json").exists()  # not graded is no score
