"""What platforms are given fits what they publish, and their entries are really run."""

import contextlib
import datetime
import io
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from extras import needed, when_used
from globs import some
from thorough import THOROUGH, sample

pytest.importorskip("yaml", reason="pyyaml is not installed (extra dev)")
pytest.importorskip("hypothesis", reason="hypothesis is not installed (extra dev)")

import yaml
from hypothesis import given
from hypothesis import strategies as st

from grader import catalog
from grader.catalog import mistakes, paths
from grader.catalog.errors import WrongUse
from grader.classroom.handins import Misplaced
from grader.cli.options import VISIBLE
from grader.integrations import bundle, classroom50, gradescope, one_student
from grader.integrations.one_student import Graded
from grader.records.results import CheckResult, ExerciseResult
from grader.reports import ci

needed("jsonschema", "dev")
jsonschema = when_used("jsonschema")

EXERCISE, BROKEN, FIRST = catalog.find("03"), catalog.find("02"), catalog.for_class()[0].folder
RUNNER = {
    "CLASSROOM": "deep", "ASSIGNMENT": "attention", "USERNAME": "ada", "SUBMISSION_TAG": "submit/2026-01-01-abc",
    "COMMIT_URL": "https://x/commit/1", "RELEASE_URL": "https://x/releases/1", "REVIEW_URL": "",
}  # fmt: skip
NOW = datetime.datetime(2026, 6, 1, 12, 0, tzinfo=datetime.timezone.utc)


def fits(content: dict, name: str) -> None:
    schema = json.loads((paths.ROOT / "tests/schemas" / f"{name}.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(content, schema)


def run(command: list, folder: Path, environment: dict) -> subprocess.CompletedProcess:
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=200, check=False
    )


def result(text: str = "", status: str = "failed", **facts) -> ExerciseResult:
    checks = (
        CheckResult("a", "The weights are right.", "passed", 0.5, 0.5, task=1),
        CheckResult("b", f"Rows sum to 1. {text}", "failed", 0.0, 0.25, f"wrong\n{text}", text or None, True, 2),
        CheckResult("c", "Gradients.", "not_checked", 0.0, 1.0, "not checked: first fix “Rows sum to 1.”", None, True),
    )
    known = {"exercise": EXERCISE.folder, "title": EXERCISE.title, "submission": "context_vectors.py", "device": "cpu"}
    return ExerciseResult(**{**known, "seed": 1, "status": status, "duration_s": 0.1, "checks": checks, **facts})


def graded(*results) -> Graded:
    return Graded(tuple((EXERCISE, one) for one in results), (Misplaced("x.pdf", "neither"),), 1.5)


# Gradescope.


@pytest.mark.parametrize("hidden", VISIBLE)
def test_gradescope_results(hidden):
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


def test_gradescope_failure():
    fits(gradescope.failure("no sandbox."), "gradescope")


@pytest.fixture(scope="module")
def autograder(tmp_path_factory) -> Path:
    """/autograder as Gradescope lays it out: the zip in source/, run_autograder beside it. BROKEN's checks are."""
    root = tmp_path_factory.mktemp("autograder")
    exercises = [EXERCISE, catalog.find("01"), BROKEN]
    zipped = gradescope.package(exercises, None, "visible", None)
    assert zipped == gradescope.package(exercises, None, "visible", None)
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
            "notes.pdf": "x",
        },
    )
    of = {number: [t for t in content["tests"] if t["number"].startswith(number)] for number in ("01", "03")}
    assert sum(test["score"] for test in of["03"]) == EXERCISE.max_points
    assert 0 < sum(test["score"] for test in of["01"]) < catalog.find("01").max_points
    assert any("likely:" in test["output"] for test in of["01"])
    assert "notes.pdf" in content["output"]
    assert not any("expected [" in test["output"] for test in content["tests"])
    assert "not graded" in content["output"]
    (whole,) = [test for test in content["tests"] if test["number"].startswith("02")]
    assert (whole["score"], whole["max_score"]) == (0, BROKEN.max_points) and "not graded" in whole["output"]


def test_run_autograder_without_files(autograder):
    content = run_autograder(autograder, {"readme.txt": "nothing"})
    assert [test["score"] for test in content["tests"]] == [0, 0, 0]


def test_a_file_with_a_wrong_name_is_named_beside_the_expected_one(autograder):
    """A student has no EX= to type."""
    answer = paths.solution(EXERCISE.folder).read_text()
    content = run_autograder(autograder, {"assignment3.py": answer})
    outputs = {test["number"]: test["output"] for test in content["tests"]}
    assert "expected context_vectors.py or context_vectors.ipynb, found assignment3.py." in outputs["03"]
    assert "assignment3.py" in content["output"] and "EX=" not in json.dumps(content)


def test_of_one_exercise_the_only_file_needs_no_name(tmp_path, monkeypatch, fork_server):
    monkeypatch.setattr(one_student, "ForkServer", lambda: contextlib.nullcontext(fork_server))
    (tmp_path / "assignment3.py").write_text(paths.solution(EXERCISE.folder).read_text())
    ((_, found),) = one_student.grade(tmp_path, [EXERCISE]).results
    assert found is not None and found.status == "passed"


@pytest.mark.parametrize("hidden", [False, True])
def test_what_is_packed_ends_its_lines_as_linux_does(tmp_path, monkeypatch, hidden):
    """In a checkout with Windows line endings, which run_autograder would not start with."""
    root = tmp_path / "checkout"
    crlf = {name: data.replace(b"\n", b"\r\n") for name, data in bundle.whole() if b"\0" not in data}
    assert len(crlf) > 300 and all(b"\r" in data for data in crlf.values() if data)
    monkeypatch.setattr(bundle, "whole", lambda: iter(crlf.items()))
    monkeypatch.setattr(bundle, "files", lambda: iter(crlf.items()))
    for name in ("run_autograder", "setup.sh", "autograder.py"):
        (root / "integrations/templates").mkdir(parents=True, exist_ok=True)
        text = paths.module(f"integrations/templates/{name}").read_bytes()
        (root / "integrations/templates" / name).write_bytes(text.replace(b"\n", b"\r\n"))
    monkeypatch.setattr(paths, "module", lambda name: root / name)
    packed = {"gs": gradescope.package([EXERCISE], None, "visible", None), "bundle": bundle.build()}
    packed |= classroom50.files([EXERCISE], hidden)
    looked_at = 0
    for name, data in packed.items():
        if data.startswith(b"PK"):
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                texts = {inner: archive.read(inner) for inner in archive.namelist()}
        else:
            texts = {name: data}
        looked_at += len(texts)
        assert [inner for inner, text in texts.items() if b"\r\n" in text] == [], name
    assert looked_at > 900


def test_a_trained_model_is_packed_as_it_is():
    packed = bundle.zip_files({"trained.pt": b"PK\0\r\n"})
    assert zipfile.ZipFile(io.BytesIO(packed)).read("trained.pt") == b"PK\0\r\n"


def test_a_clone_on_windows_has_the_same_line_endings():
    files = subprocess.run(["git", "ls-files"], cwd=paths.ROOT, capture_output=True, text=True, check=True).stdout
    asked = subprocess.run(
        ["git", "check-attr", "--stdin", "eol"], cwd=paths.ROOT, input=files, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert len(asked) == len(files.splitlines()) and all(line.endswith("eol: lf") for line in asked)


def test_nothing_is_started_where_nothing_was_handed_in(tmp_path, monkeypatch):
    monkeypatch.delattr(one_student, "ForkServer")
    done = one_student.grade(tmp_path, [EXERCISE])
    assert done.complete and done.results == ((EXERCISE, None),)


def test_run_autograder_after_a_crash_of_ours(autograder, tmp_path):
    """Python is not there, dies at once, or is killed: results.json is there and valid all the same."""
    crash = tmp_path / "python"
    for script in ("exit 70", "kill -9 $$", 'echo "{" >&2; exit 1'):
        crash.write_text(f"#!/bin/sh\n{script}\n")
        crash.chmod(0o755)
        content = run_autograder(autograder, {"context_vectors.py": "x = 1\n"}, str(crash))
        assert content["score"] == 0 and "not graded" in content["output"] and "tests" not in content
    assert run_autograder(autograder, {"a.py": ""}, "/no/such/python")["score"] == 0


def test_the_scripts_are_bash(autograder):
    for name in ("setup.sh", "run_autograder"):
        assert subprocess.run(["bash", "-n", autograder / "source" / name], check=False).returncode == 0


def test_the_gradescope_command(tmp_path, said):
    assert said("gradescope", "03", "--output", tmp_path / "a.zip").returncode == 0
    assert zipfile.ZipFile(tmp_path / "a.zip").testzip() is None
    assert said("gradescope", "99", "--output", tmp_path / "a.zip").returncode == 2


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


@pytest.mark.parametrize("hidden", sample([False, True], 1))
def test_classroom50_autograder_is_run(tmp_path, hidden):
    here, checkout = tmp_path / "autograders/attention", tmp_path / "checkout"
    here.mkdir(parents=True)
    for name, content in classroom50.files([EXERCISE], hidden).items():
        (here / name).write_bytes(content)
    mine = checkout / "exercises/03_context_vectors/context_vectors.py"
    mine.parent.mkdir(parents=True)
    mine.write_text(paths.solution(EXERCISE.folder).read_text())
    done = autograde(here, checkout, RUNNER)
    assert done.returncode == 0, done.stdout + done.stderr
    content = json.loads((checkout / "result.json").read_text())
    fits(content, "classroom50-result-v1")
    assert content["score"] == content["max-score"] == (28 if hidden else 10)
    names = zipfile.ZipFile(here / "kata.zip").namelist()
    assert any(name.startswith("solutions/") for name in names) == hidden

    (checkout / "result.json").unlink()
    assert autograde(here, checkout, {}).returncode != 0  # not graded is no score
    assert not (checkout / "result.json").exists()


def autograde(here: Path, checkout: Path, about: dict) -> subprocess.CompletedProcess:
    environment = {k: v for k, v in os.environ.items() if k not in RUNNER} | about
    command = [sys.executable, here / "autograder.py"]
    return subprocess.run(
        command, cwd=checkout, env=environment, capture_output=True, text=True, timeout=200, check=False
    )


def test_the_classroom50_command(tmp_path, said):
    done = said("classroom50", "03", "--output", tmp_path / "made")
    assert done.returncode == 0 and "autograders" in done.stdout
    assert sorted(os.listdir(tmp_path / "made")) == ["autograder.py", "exercises.txt", "kata.zip"]


# GitHub Actions.

HOSTILE = (
    "\r\n::add-mask::secret\n##[error]x\n%0A::set-output name=a::b\n</pre><script>@everyone | `x` [a](b)\n\n\n# head"
)


@pytest.mark.parametrize("text", ["", HOSTILE])
def test_annotations_hold_no_other_commands(text):
    source = "import torch\n\ndef softmax(x):\n    return x\n"
    said = f"wrong\n{text}\ncalled   softmax(tensor (2, 3))"
    checks = (replace(result().checks[1], message=said, diagnosis=text or None),)
    lines = ci.annotations(result(checks=checks), source).splitlines()
    assert len(lines) == 2
    assert re.match(r"::error file=context_vectors\.py,line=3,title=[^:,]*::", lines[0])
    assert not lines[1].lstrip().startswith(("::", "##"))


@given(st.text(), st.text())
def test_one_command_stays_one(message, title):
    line = ci.command("error", message, f"{title}.py", 3, title)
    assert len(line.splitlines()) <= 1 + sum(line.count(c) for c in "\v\f\x1c\x1d\x1e\x85\u2028\u2029")
    assert "\n" not in line and "\r" not in line
    facts = line.removeprefix("::error ").partition("::")[0]
    assert len(facts.split(",")) == 3 and facts.count(":") == 0


def test_annotations_of_files_that_do_not_load_or_are_not_begun():
    broken = result(status="error", message="SyntaxError: x\ncontext_vectors.py:8\n    def f((")
    broken = replace(broken, checks=(replace(broken.checks[2]),))
    assert ci.annotations(broken).startswith("::error file=context_vectors.py,line=8,")
    fresh = ci.annotations(result(started=False, message="not started yet"))
    assert fresh.startswith("::notice ") and "::error" not in fresh


def test_many_failures_of_one_cause_are_one_annotation():
    check = result().checks[1]
    many = tuple(
        replace(check, id=str(n), message=f"KeyError: {n}\ncontext_vectors.py:5 in f", diagnosis="d") for n in range(12)
    )
    text = ci.annotations(result(checks=many))
    assert text.count("::error ") == 1 and "(and 11 more)" in text and "line=5" in text


@pytest.mark.parametrize("text", ["", HOSTILE])
def test_the_summary_is_inert(text):
    summary = ci.summary(result(text, message=text))
    block = summary[summary.index("<pre>") + 5 : summary.rindex("</pre>")]
    assert "<" not in block and "\n\n" not in block.replace("\n&nbsp;\n", "\n")
    table = summary[: summary.index("<pre>")]
    assert "<script>" not in table and "[a](b)" not in table
    assert len([line for line in table.splitlines() if line.startswith("| ")]) == 4  # the head and three checks


def test_the_workflows_fit_githubs_syntax():
    files = [paths.module("integrations/templates/grade.yml"), *some((paths.ROOT / ".github/workflows").glob("*.yml"))]
    assert len(files) >= 2
    for path in files:
        known = yaml.safe_load(path.read_text())
        known["on"] = known.pop(True)  # YAML 1.1 takes "on" for a truth value, GitHub does not
        fits(known, "github-workflow")


def test_the_workflow_grades_what_a_push_changed(tmp_path):
    """The step "Grade" of grade.yml, in a repository made from the learner's bundle. At night a right answer too."""
    with zipfile.ZipFile(io.BytesIO(bundle.build())) as archive:
        archive.extractall(tmp_path)
    root = tmp_path / bundle.TOP
    step = yaml.safe_load((root / ".github/workflows/grade.yml").read_text())["jobs"]["grade"]["steps"][-1]
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    environment |= {f"GIT_{who}_{what}": "x@y.z" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}

    def git(*words: str) -> str:
        done = subprocess.run(["git", *words], cwd=root, env=environment, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def push(before: str) -> tuple[int, str, str]:
        summary = tmp_path / "summary.md"
        summary.unlink(missing_ok=True)
        known = environment | {"BEFORE": before, "GITHUB_STEP_SUMMARY": str(summary)}
        done = subprocess.run(
            ["bash", "-e", "-c", step["run"]],
            cwd=root,
            env=known,
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )
        return done.returncode, done.stdout, summary.read_text() if summary.exists() else ""

    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "the bundle")
    first = git("rev-parse", "HEAD")
    assert push("0" * 40) == (0, "", "")  # nothing is begun
    mine = root / "exercises/03_context_vectors/context_vectors.py"
    mine.write_text(mistakes.find(EXERCISE.folder, "softmax_over_columns").source)
    git("commit", "-qam", "work")
    code, said, summary = push(first)
    assert code == 1 and "::error file=exercises/03_context_vectors/context_vectors.py,line=" in said
    assert "### 03" in summary and "01_dot" not in said
    if not THOROUGH:
        return
    second = git("rev-parse", "HEAD")
    mine.write_text(paths.solution(EXERCISE.folder).read_text())
    git("commit", "-qam", "fixed")
    code, said, _ = push(second)
    assert code == 0 and "::error" not in said and "2.5 of 2.5 points, passed" in said


def test_actions_are_pinned_by_hash_and_by_one_each():
    """A tag can be moved to other code, a hash cannot. dependabot changes them all."""
    text = "\n".join(path.read_text("utf-8") for path in some((paths.ROOT / ".github/workflows").glob("*.yml")))
    used = re.findall(r"uses: (\S+)@(\S+) # (v[\d.]+)", text)
    assert len(used) == text.count("uses: ") > 10
    assert all(re.fullmatch("[0-9a-f]{40}", digest) for _, digest, _ in used)
    assert len({(name, digest, version) for name, digest, version in used}) == len({name for name, _, _ in used})


def test_a_release_brings_the_wheel_and_the_bundle():
    release = yaml.safe_load((paths.ROOT / ".github/workflows/release.yml").read_text())
    assert release[True] == {"push": {"tags": ["v*"]}}
    ran = "\n".join(step.get("run", "") for step in release["jobs"]["release"]["steps"])
    assert "make wheel" in ran and "make bundle OUTPUT=dist/" in ran and "dist/*" in ran
    version = re.search(r"sed -n '(s/.*?)' pyproject", ran)[1]
    done = subprocess.run(["sed", "-n", version, "pyproject.toml"], cwd=paths.ROOT, capture_output=True, text=True)
    citation = re.search(r"^version: (.+)$", (paths.ROOT / "CITATION.cff").read_text(), re.M)[1]
    assert done.stdout.strip() == citation
