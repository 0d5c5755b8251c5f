"""The command line as its users call it: verbs, options, exit codes, and what is said."""

import contextlib
import io
import json
import os
import shlex
import shutil
import subprocess
import sys
from types import SimpleNamespace

import pytest
import situations

from grader import catalog
from grader import cli as command_line
from grader.catalog import paths
from grader.catalog.errors import InfrastructureError
from grader.catalog.project import read_toml
from grader.cli import author, options_of

PLANTED = (  # modules that lie in the working folder
    "torch", "json", "typing", "runpy", "rich", "jinja2", "pytest", "conftest", "numpy", "random", "sitecustomize",
    "usercustomize", "tomllib", "kata", "_pytest/__init__",
)  # fmt: skip
RIGHT, WRONG = situations.file("right_answer"), situations.file("returns_none")
WRONG_USE = (
    ("check 99", 'No exercise is called "99". See all: kata progress\n'),
    ("check contxt_vectors", 'Did you mean "context_vectors"?'),
    ("check 03 --seed many", "--seed: invalid int value: 'many'\nSee: kata check --help"),
    ("--make check 03 --frobnicate", "does not take --frobnicate. See: make help check"),
    ("explain", "explain needs STUDENT."),
    ("fill a.csv", "fill needs MARKS"),
    ("grade", "make grade SUBMISSIONS=download"),
    ("grade no/folder", "There is no folder no/folder."),
    ("grade SUBMISSIONS=exercices", "There is no folder exercices. Did you mean exercises?"),
    ("grade 03", "There is no folder 03."),
    ("grade EX=03", "make grade EX=03 FILES="),
    ("grade --files pyproject.toml", "make grade EX=03 FILES="),
    ("grade 03 a.py", "grade does not take a.py. See: kata grade --help"),
    ("grade pyproject.toml", "make grade EX=03 FILES=pyproject.toml"),
    ("check 03 --device tpu", "--device: invalid choice: 'tpu'"),
    ("--make check ex=03", "make check does not take ex. Did you mean EX?"),
    ("--make check 03 04", "make check does not take 04. See: make help check\n"),
    ("check 03 FOO=1", "kata check does not take FOO. See: kata check --help"),
    ("check 03 ALL=often", "ALL is 1 or 0, not often."),
    ("--make new 14", "new needs NAME.\nSee: make help new"),
    ("check 03 --timeout 0", "0 is out of range"),
    ("grade in --jobs 0", "0 is out of range: 1 or more"),
    ("check 03 --sed 3", "Did you mean --seed?"),
    ("check --submission x.py", "--submission needs an exercise"),
    ("--make chekc EX=03", 'There is no command "chekc". Did you mean check? See all: make help\n'),
    ("init my-attention", "which has the exercises already: type make."),
    ("new 3 other", "is there already"),
    ("lint", "make lint: Look at form"),
    ("new 14 'No Slug'", "is no slug"),
    ("new 35 class", "and no word of Python's own"),
    ("check 03 --submission '\x1b[31mred.py'", "\\x1b[31mred.py"),
)


@pytest.mark.skipif(os.path.exists("/dev/nvidia0"), reason="there is a CUDA device")
def test_without_the_device_nothing_is_graded(capsys):
    assert command_line.main(["check", "03", "--device", "cuda", "--submission", str(RIGHT)]) == 3
    assert "no CUDA device" in capsys.readouterr().err


def test_every_name_of_an_exercise():
    for name in ("3", "03", "context_vectors", "03_context_vectors", "exercises/03_context_vectors/"):
        assert catalog.find(name).folder == "03_context_vectors"


def test_wrong_use_says_what_to_type_instead(said):
    for typed, words in WRONG_USE:
        done = said(*shlex.split(typed))
        assert done.returncode == 2, typed
        assert words in done.stderr, typed
        assert not [word for word in ("argument -", "Traceback", "\x1b") if word in done.stderr], typed


def test_kata_takes_what_guides_and_messages_write_for_make():
    for words, plain in (
        ("explain EX=03 STUDENT=ada", "explain ada 03"),
        ("fill GRADEBOOK=a.csv MARKS=marks.csv COLUMN=03=Essay", "fill a.csv marks.csv --column 03=Essay"),
        ("check EX=03 SEED=7 ALL=1", "check 03 --seed 7 --all"),
        ("check EX=03 ALL=0", "check 03"),
        ("grade EX=03 'FILES=a.py b.py'", "grade --ex 03 --files a.py b.py"),
        ("experiment 03 --args SEED=3", "experiment 03 --args=SEED=3"),
    ):
        assert vars(options_of(shlex.split(words))) == vars(options_of(shlex.split(plain)))


@pytest.mark.slow
def test_a_class_is_graded_though_modules_lie_where_one_stands(tmp_path):
    """By the command that pyproject.toml declares, from a folder full of traps, in which `python -m` begins, too."""
    module, _, function = read_toml(paths.ROOT / "pyproject.toml")["project"]["scripts"]["kata"].partition(":")
    script, folder, trap = tmp_path / "kata", tmp_path / "handed in", tmp_path / "OWNED"
    script.write_text(f"import sys\nfrom {module} import {function}\nsys.exit({function}())\n")  # as an installer does
    (folder / "class/ada").mkdir(parents=True)
    (folder / "_pytest").mkdir()
    for name in PLANTED:
        (folder / f"{name}.py").write_text(f"open({str(trap)!r}, 'w').write('x')\n")
    (folder / "kata.pth").write_text(f"import os; open({str(trap)!r}, 'w').write('x')\n")
    (folder / "pyproject.toml").write_text("[tool.pytest.ini_options]\naddopts = '--collect-only'\n")
    (folder / "pytest.ini").write_text("[pytest]\naddopts = --collect-only\npython_files = conftest.py\n")
    shutil.copy(RIGHT, folder / "class/ada/context_vectors.py")
    environment = os.environ | {"PYTHONPATH": str(paths.ROOT)}

    def run(*command: object) -> subprocess.CompletedProcess[str]:
        words = [sys.executable, *command]
        return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=200)

    assert "No exercise is called" in run("-m", "grader", "check", "99").stderr
    (folder / "grader.py").write_text((folder / "torch.py").read_text())  # which `python -m` would take for ours
    done = run(script, "grade", "class", "--ex", "03", "--jobs", "1")
    assert not trap.exists(), "a file of the working folder was imported"
    assert done.returncode == 0, done.stderr
    assert (folder / "results/feedback/ada/feedback_03_context_vectors.html").exists()


def test_what_the_guide_types_in_a_folder_of_ones_own_is_understood():
    lines = paths.ROOT.joinpath("docs/classroom.md").read_text("utf-8").splitlines()
    typed = [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("kata ")]
    assert {words[0] for words in typed} == {"grade", "explain", "fill"}
    for words in typed:
        assert options_of(words).run


def test_an_answer_is_no_error_of_make_for_a_person_at_a_terminal(said, desk, monkeypatch):
    """test_make.py has a real terminal, and make."""
    make = ["--make", "check", "03"]
    assert said(*make, cwd=desk).returncode == 1  # in a pipe
    screen = io.StringIO()
    screen.isatty = lambda: True
    for ci, words, code in (("", make, 0), ("", make[1:], 1), ("true", make, 1), ("", ["--make", "check", "99"], 2)):
        monkeypatch.setenv("CI", ci)
        with contextlib.redirect_stdout(screen):
            assert command_line.main(words) == code, words


def test_json_is_what_the_readme_documents(said):
    done = said("check", "03", "--submission", RIGHT, "--seed", 7, "--format", "json", "--where", 0)
    result = json.loads(done.stdout)
    exercise = catalog.find("03")
    promised = "schema exercise device seed status points max_points duration_s checks output"
    assert set(promised.split()) <= set(result)
    assert (result["schema"], result["exercise"], result["device"], result["seed"]) == (1, exercise.folder, "cpu", 7)
    assert result["status"] == "passed"
    assert result["points"] == result["max_points"] == exercise.max_points
    assert [check["id"] for check in result["checks"]] == list(exercise.points)
    for check in result["checks"]:
        assert {"title", "message", "diagnosis", "task", "lines", "where", "cause", "call"} <= set(check)
        assert check["outcome"] == "passed" and check["points"] == exercise.points[check["id"]]
        assert check["hidden"] == (not check["id"].startswith("documented"))


def test_a_pipe_gets_no_colours_and_no_wrapped_lines(said, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    done = said("check", "03", "--submission", WRONG)
    assert "\x1b" not in done.stdout
    assert any(len(line) > 80 for line in done.stdout.splitlines())


def test_a_learner_walks_from_stub_to_done(said, desk):
    stub = desk / "exercises" / "03_context_vectors" / "context_vectors.py"
    untouched = said("check", "03", cwd=desk)
    assert untouched.returncode == 1
    assert untouched.stdout.startswith("not started yet: open exercises/03_context_vectors/context_vectors.py\n")
    notebook = stub.with_suffix(".ipynb")
    notebook.write_text("{}")
    told = f"If you work in the notebook: make check EX=03 SUBMISSION={notebook.relative_to(desk)}\n"
    assert said("check", "03", cwd=desk).stdout.endswith(told)
    notebook.unlink()
    shutil.copy(WRONG, stub)
    assert said("check", "03", cwd=desk).returncode == 1
    assert "… 03 Context vectors" in said("progress", cwd=desk).stdout
    shutil.copy(RIGHT, stub)
    assert said("check", "03", cwd=desk).returncode == 0
    (line,) = [line for line in said("progress", cwd=desk).stdout.splitlines() if "03 Context vectors" in line]
    assert line.startswith(" ✔ 03") and "██████████     7/7" in line and line.endswith(", 2 tries")


def test_stub_does_not_overwrite_a_learners_work(said, desk):
    stub = desk / "exercises" / "03_context_vectors" / "context_vectors.py"
    shutil.copy(RIGHT, stub)
    author.write_stub("03_context_vectors")
    assert stub.read_text() == RIGHT.read_text()
    stub.write_text("import torch\n")
    author.write_stub("03_context_vectors")
    assert "raise NotImplementedError" in stub.read_text()


def test_a_class_is_not_asked_for_the_warm_up_unless_it_is_named():
    (warm_up,) = [exercise for exercise in catalog.exercises() if exercise.path.warm_up]
    assert warm_up not in catalog.find_all(None) and warm_up not in catalog.find_all("all")
    assert catalog.find_all("00") == (warm_up,) and catalog.find("0") == warm_up


def test_the_warm_up_comes_first_and_is_in_no_sum(said, desk):
    """What comes once another one is passed: tests/desk/test_ending.py."""
    warm_up, first = (exercise.folder for exercise in catalog.exercises()[:2])
    assert f"open exercises/{warm_up}/" in said("check", cwd=desk).stdout
    points = sum(exercise.max_points for exercise in catalog.for_class())
    assert f"\n0 of {points:g} points.\nNext: make start EX=00" in said("progress", cwd=desk).stdout
    said("check", first, "--submission", paths.solution(first), cwd=desk)
    assert f"open exercises/{warm_up}/" in said("check", cwd=desk).stdout  # another's file is nobody's progress


def test_a_python_that_leaves_out_asserts_and_docstrings_is_started_again_without_that(monkeypatch):
    instead = "import os; os.execve = lambda *given: print(*given[1], 'PYTHONOPTIMIZE' in given[2]) or os._exit(0)"
    instead += "; from grader.__main__ import run; run()"
    words = ["check", "02", "--submission", str(paths.stub("02_softmax_naive"))]
    for flags, more in ((["-OO"], {}), ([], {"PYTHONOPTIMIZE": "2"})):
        command = [sys.executable, *flags, "-c", instead, *words]
        done = subprocess.run(command, cwd=paths.ROOT, env={**os.environ, **more}, capture_output=True, text=True)
        again = [sys.executable, str(paths.GRADER / "__main__.py"), *words]
        assert done.stdout == f"{' '.join(again)} False\n", done.stderr
    from grader.judge import session  # heavy: torch

    # A Python that is really started so compiles all of torch anew.
    monkeypatch.setattr(session, "sys", SimpleNamespace(flags=SimpleNamespace(optimize=1)))
    with pytest.raises(InfrastructureError, match="leaves out the asserts"):
        session.Session(catalog.find("02"), 1).__enter__()


@pytest.mark.parametrize("is_editable", [False, True])
def test_what_is_installed_runs_the_grader_of_the_checkout_that_one_is_in(tmp_path, is_editable):
    """Somebody who has a kata of their own, perhaps from another clone, and works in a clone all the same."""
    installed, mine = tmp_path / "site-packages/grader", tmp_path / "mine"
    (mine / "exercises/03").mkdir(parents=True)
    (mine / "grader").mkdir()
    installed.mkdir(parents=True)
    if is_editable:
        (installed.parent / "exercises").mkdir()
    for name in ("__init__.py", "__main__.py", "folders.py"):
        shutil.copy(paths.GRADER / name, installed)
    (mine / "grader/__main__.py").write_text("import sys; print('the checkout:', *sys.argv[1:])")
    kata = [sys.executable, "-c", "from grader.__main__ import run; run()", "check", "03"]
    where = {**os.environ, "PYTHONPATH": str(installed.parent)}
    done = subprocess.run(kata, cwd=mine / "exercises/03", env=where, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("the checkout: check 03\n", "")


def test_no_page_says_python_m_which_looks_for_modules_in_the_working_folder_first():
    documents = [*list(paths.DOCS.glob("*.md")), paths.at_root("README.md"), paths.at_root("SECURITY.md")]
    assert not [path.name for path in documents if "python -m grader " in path.read_text("utf-8")]


def test_json_says_what_an_assistant_needs(said, desk):
    """The promise, the call, the diagnosis, and a hint that does not count as asked."""
    stub = paths.stub(catalog.find("03").folder)
    stub.write_text(WRONG.read_text("utf-8"), "utf-8")
    check = ("check", "03", "--format", "json", "--where", "0")
    answers = [json.loads(said(*check, cwd=desk).stdout) for _ in range(2)]
    failed = [check for check in answers[0]["checks"] if check["outcome"] == "failed"]
    assert any(check["diagnosis"] for check in failed) and any("(" in check["call"] for check in failed)
    assert all(check["call"] in check["message"] for check in failed)
    hint = answers[0]["next_hint"]
    assert hint == answers[1]["next_hint"]
    assert hint["text"] in " ".join(said("hint", "03", cwd=desk).stdout.split())
    stub.write_text(RIGHT.read_text("utf-8"), "utf-8")
    assert json.loads(said(*check, cwd=desk).stdout)["next_hint"] is None
