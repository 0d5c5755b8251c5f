"""make, as a learner types it: exit codes with and without a terminal, Ctrl-C, words for EX, and values with a $."""

import random
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from at_terminal import BY_HAND, OUTSIDE, AtTerminal, checkout
from thorough import THOROUGH

from grader import folders
from grader.catalog import paths
from grader.cli import HIDDEN, options_of
from grader.cli.options import DECLARED

pytestmark = pytest.mark.slow

EX = "03_context_vectors"
PYTHON = f"PYTHON={sys.executable}"
TRIES = 200 if THOROUGH else 4
# What make itself says. Before the program begins it is the only one to end.
OF_MAKE = re.compile(r"make: \*\*\* (.*Interrupt|wait: No child processes.*|Waiting for unfinished jobs.*)|\^C")


@pytest.fixture(scope="module")
def desk(tmp_path_factory) -> Path:
    """A checkout to work in, whose exercise 03 is begun and wrong."""
    folder = checkout(tmp_path_factory.mktemp("desk") / "checkout")
    stub = folder / "exercises" / EX / "context_vectors.py"
    stub.write_text(stub.read_text().replace("raise NotImplementedError", "return inputs", 1))
    return folder


def piped(desk: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a command without a terminal. more: names of the environment."""
    return subprocess.run(words, cwd=desk, env=OUTSIDE | more, capture_output=True, text=True, timeout=200)


def test_wrong_use_is_an_error_of_make_at_a_terminal(desk):
    """What is none: test_cli.py, and the first check below."""
    with AtTerminal([*BY_HAND, "make", "check", "EX=99", PYTHON], desk) as learner:
        assert learner.ends(120) == 2
        assert "***" in learner.transcript and 'No exercise is called "99"' in learner.transcript


def test_ctrl_c_at_any_moment_says_stopped_and_nothing_else_of_pythons(desk, monkeypatch):
    """Once the grading has begun, where it is no error of make, and in the first fifth, in which Python starts."""
    for name in ("PYTEST_VERSION", "PYTEST_CURRENT_TEST"):  # so that a warm process is asked
        monkeypatch.delenv(name, raising=False)
    command = [*BY_HAND, "make", "check", f"EX={EX}", "WHERE=0", PYTHON]
    moments = random.Random(3)
    began = time.monotonic()
    with AtTerminal(command, desk, WARM="1") as whole:
        assert whole.ends(200) == 0  # an answer is no error, and leaves a warm process
        assert "Grading 03" in whole.transcript and " points" in whole.transcript and "***" not in whole.transcript
    cold = time.monotonic() - began
    for warm, length in (("0", cold), ("1", 1.0)):  # minutes: the warm process soon ends by itself
        said = []
        for number in range(TRIES // 2):
            with AtTerminal(command, desk, WARM=warm) as learner:
                if number:
                    time.sleep(moments.uniform(0, 0.15 * length if number % 2 else 0.8 * length))
                else:
                    learner.says("Grading 03")
                learner.type("\x03")
                learner.ends(120)
                shown = OF_MAKE.sub("", learner.transcript).strip()
            if "points" in shown and "stopped" not in shown:
                assert "of 7 points" in shown, shown  # it was over before
            else:
                assert shown.endswith("stopped") or not shown, shown
            assert "Traceback" not in shown and "Fatal" not in shown and "not_graded" not in shown, shown
            assert number or "stopped" not in shown or "***" not in learner.transcript
            said.append("stopped" in shown)
        assert sum(said) >= len(said) // 4, said
        print(f"{sum(said)} of {len(said)} said stopped; in the others make had not begun, or the check was over")


def test_what_says_nothing_to_a_target_of_makes_own_is_refused():
    done = piped(paths.ROOT, "make", "lint", "FOO=1", PYTHON)
    assert done.returncode == 2 and "make lint does not take FOO. See: make help.  Stop.\n" in done.stderr


def test_the_extra_that_an_exercise_or_a_verb_needs_is_fetched():
    def fetched(*words: str) -> list[str]:
        done = piped(paths.ROOT, "make", "-n", "VENV=/nowhere", *words)
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
    assert len(listed) == len({*listed}) and {*DECLARED} - {*HIDDEN} <= {*listed}


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
    said = piped(tmp_path, "make", "--dry-run")
    assert said.stdout.startswith("Welcome! Before the first exercise, make fetches PyTorch")
    wrong = piped(paths.ROOT, "make", "chekc", "VENV=/nowhere")
    assert "Did you mean check?" in wrong.stderr and not wrong.stdout  # and nothing is built for it


def test_a_pattern_in_files_stands_for_the_files_that_fit():
    files = options_of(["grade", "EX=03", "FILES=no_such.py pyproject.* constraints.txt"]).files
    assert [*map(str, files)] == ["no_such.py", "pyproject.toml", "constraints.txt"]


def test_a_pythonpath_of_another_python_is_ignored(desk, tmp_path, said, monkeypatch):
    """As clusters and ROS set it. make starts no Python with it: even the standard library could be another one."""
    (tmp_path / "argparse.py").write_text('raise ImportError("built for Python 3.8")\n')
    program = str(desk / "grader/__main__.py")
    for words in ((sys.executable, program, "check", "99"), ("make", "check", "EX=99", PYTHON)):
        done = piped(desk, *words, PYTHONPATH=str(tmp_path))
        assert 'No exercise is called "99"' in done.stderr and "ImportError" not in done.stderr
        (tmp_path / "typing.py").write_text('raise ImportError("of Python 3.8")\n')
    monkeypatch.setenv(folders.IGNORED, str(tmp_path))
    assert f"ignored here: {tmp_path}" in said("doctor").stdout
