"""make, as a learner types it: exit codes with and without a terminal, words for EX, and values with a $."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from at_terminal import AtTerminal, checkout

from grader.catalog import paths
from grader.cli import HIDDEN, VERBS, options_of

pytestmark = pytest.mark.slow

EX = "02_softmax_naive"
PYTHON = f"PYTHON={sys.executable}"
OUTSIDE = {name: value for name, value in os.environ.items() if not name.startswith("MAKE") and name != "CI"}


@pytest.fixture(scope="module")
def desk(tmp_path_factory) -> Path:
    """A checkout to work in, whose softmax is begun and wrong."""
    folder = checkout(tmp_path_factory.mktemp("desk") / "checkout")
    stub = folder / "exercises" / EX / "softmax_naive.py"
    stub.write_text(stub.read_text().replace("raise NotImplementedError", "return x", 1))
    return folder


def at_terminal(desk: Path, *words: str) -> AtTerminal:
    """Somebody types this at a terminal."""
    return AtTerminal(["env", "-u", "CI", "-u", "MAKELEVEL", "-u", "MAKEFLAGS", *words], desk)


def typed(desk: Path, *words: str) -> tuple[int, str]:
    """The exit code and all that the terminal shows."""
    with at_terminal(desk, *words) as learner:
        return learner.ends(120), learner.transcript


def piped(desk: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The same without a terminal."""
    return subprocess.run(words, cwd=desk, env=OUTSIDE, capture_output=True, text=True, timeout=120)


def test_an_answer_is_no_error_of_make_at_a_terminal(desk):
    ended, transcript = typed(desk, "make", "check", f"EX={EX}", "WHERE=0", PYTHON)
    assert ended == 0 and "***" not in transcript and " points" in transcript
    assert "Grading 02" in transcript  # while it waits
    done = piped(desk, "make", "check", f"EX={EX}", "WHERE=0", PYTHON)
    assert done.returncode == 2 and "***" in done.stderr and " points" in done.stdout
    assert typed(desk, sys.executable, "-m", "grader", "check", "EX=03", "WHERE=0")[0] == 1  # kata keeps its promise


def test_in_ci_and_for_wrong_use_make_fails_at_a_terminal_too(desk):
    words = ["make", "check", "EX=02", "WHERE=0", PYTHON]
    with AtTerminal(words, desk, CI="true", MAKELEVEL="", MAKEFLAGS="") as learner:
        assert learner.ends(120) == 2 and "***" in learner.transcript
    ended, transcript = typed(desk, "make", "check", "EX=99", PYTHON)
    assert ended == 2 and 'No exercise is called "99"' in transcript


def test_ctrl_c_at_a_terminal_is_no_error_of_make(desk):
    with at_terminal(desk, "make", "check", f"EX={EX}", PYTHON) as learner:
        learner.says("Grading 02")
        learner.type("\x03")
        learner.ends()
        assert "***" not in learner.transcript and "Traceback" not in learner.transcript


def planned(*words: str) -> subprocess.CompletedProcess[str]:
    """What make would run, with some program for Python."""
    return subprocess.run(
        ["make", "--dry-run", "PYTHON=kata", *words], cwd=paths.ROOT, env=OUTSIDE, capture_output=True, text=True
    )


def test_what_is_typed_goes_to_kata_as_it_is():
    words = planned("check", "03", "SEED=7").stdout.splitlines()[0].split()
    assert words[-7:] == ['"kata"', "-m", "grader", "--make", "check", "'03'", "'SEED=7'"]


REFUSED = {
    "chekc EX=03": 'There is no command "chekc". Did you mean check? See all: make help\n',
    "check EX=03 FOO=1": "make check does not take FOO. See: make help check\n",
    "check 03 04": "make check does not take 04. See: make help check\n",
    "lint FOO=1": "make lint does not take FOO. See: make help.  Stop.\n",
}


def test_what_says_nothing_is_refused():
    for words, said in REFUSED.items():
        done = piped(paths.ROOT, "make", *words.split(), PYTHON)
        assert done.returncode == 2 and said in done.stderr, words


def test_the_extra_that_an_exercise_or_a_verb_needs_is_fetched():
    def fetched(*words: str) -> list[str]:
        done = subprocess.run(
            ["make", "-n", "VENV=/nowhere", *words], cwd=paths.ROOT, env=OUTSIDE, text=True, capture_output=True
        )
        return re.findall(r'grader/venv\.py \S+ "" (\w+)', done.stdout)

    assert fetched("check", "EX=32") == fetched("try", "32") == ["triton"] and fetched("check", "EX=03") == []
    assert fetched("notebook", "EX=03") == ["notebook"]
    assert fetched("write") == [] and fetched("write", "MODEL=here") == ["tokenizers"]


def test_a_value_with_a_dollar_is_not_run(tmp_path):
    """Neither by make, where it builds a command or exports the value, nor by the shell."""
    print_words = tmp_path / "words"
    print_words.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    print_words.chmod(0o755)
    value = f"$(shell touch {tmp_path}/made)`touch {tmp_path}/made`"
    for target, name in (("check", "SUBMISSION"), ("check", "EX"), ("grade", "FILES")):
        done = piped(paths.ROOT, "make", target, f"PYTHON={print_words}", f"{name}={value}")
        assert not (tmp_path / "made").exists() and done.returncode == 0, done.stderr
        assert value.split()[0] in done.stdout


def test_kata_alone_its_help_and_that_of_make_show_the_same_lists(said):
    shown = piped(paths.ROOT, "make", "help", PYTHON).stdout
    assert shown == piped(paths.ROOT, "make", "help", "PYTHON=python3").stdout  # before anything is installed
    alone = said().stdout
    assert (
        alone
        == said("--help").stdout
        == said("help").stdout
        == shown.replace("make check", "kata check").replace("make help", "kata help")
    )
    assert max(map(len, shown.splitlines())) <= 80
    listed = re.findall(r"^  ([a-z0-9]+) ", shown, re.M)
    assert listed[:6] == ["start", "check", "try", "hint", "solution", "progress"]
    assert "verify" in listed and "grade" in listed and "lint" in listed and "welcome" not in listed
    assert len(listed) == len({*listed}) and {*VERBS} - {*HIDDEN} <= {*listed}


def test_what_a_verb_takes_is_in_its_help(said):
    shown = piped(paths.ROOT, "make", "help", "check", PYTHON).stdout
    assert shown == said("help", "check").stdout and "--submission FILE" in shown
    assert "make check takes the same as NAME=value" in shown


def test_make_alone_says_hello_and_what_is_next(desk):
    done = piped(desk, "make", PYTHON)
    assert done.returncode == 0 and done.stdout.startswith("Attention, by hand\n\nWelcome")
    assert "make start" in done.stdout and done.stdout.rstrip().endswith("make help")
    assert len(done.stdout.splitlines()) < 15


def test_before_the_first_build_make_says_what_comes(tmp_path):
    (tmp_path / "Makefile").write_text(paths.at_root("Makefile").read_text("utf-8"))
    said = subprocess.run(["make", "--dry-run"], cwd=tmp_path, env=OUTSIDE, capture_output=True, text=True)
    assert said.stdout.startswith("Welcome! Before the first exercise, make fetches PyTorch")
    wrong = subprocess.run(
        ["make", "chekc", "VENV=/nowhere"], cwd=paths.ROOT, env=OUTSIDE, capture_output=True, text=True
    )
    assert "Did you mean check?" in wrong.stderr and not wrong.stdout  # and nothing is built for it


def test_a_pattern_in_files_stands_for_the_files_that_fit():
    files = options_of(["grade", "EX=03", "FILES=no_such.py pyproject.* constraints.txt"]).files
    assert [*map(str, files)] == ["no_such.py", "pyproject.toml", "constraints.txt"]


def test_a_pythonpath_of_another_python_is_ignored(desk, tmp_path):
    """As clusters and ROS set it. make starts no Python with it: even the standard library could be another one."""
    (tmp_path / "numpy").mkdir()
    (tmp_path / "numpy/__init__.py").write_text('raise ImportError("built for Python 3.8")\n')
    environment = OUTSIDE | {"PYTHONPATH": str(tmp_path)}
    command = [sys.executable, str(desk / "grader/__main__.py"), "doctor"]
    done = subprocess.run(command, cwd=desk, env=environment, capture_output=True, text=True, timeout=200)
    assert f"ignored here: {tmp_path}" in done.stdout and "3.8" not in done.stdout + done.stderr
    (tmp_path / "typing.py").write_text('raise ImportError("of Python 3.8")\n')
    command = ["make", "check", "EX=99", PYTHON]
    done = subprocess.run(command, cwd=desk, env=environment, capture_output=True, text=True, timeout=200)
    assert 'No exercise is called "99"' in done.stderr and "ImportError" not in done.stderr
