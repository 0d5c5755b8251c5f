"""make, as a learner types it: exit codes with and without a terminal, words for EX, and values with a $."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from at_terminal import AtTerminal, checkout

from grader.catalog import paths

EX = "02_softmax_naive"
PYTHON = f"PYTHON={sys.executable}"
OUTSIDE = {name: value for name, value in os.environ.items() if not name.startswith("MAKE") and name != "CI"}


@pytest.fixture(scope="module")
def desk(tmp_path_factory) -> Path:
    """A checkout to work in, whose softmax is begun and wrong; all of its hints are taken."""
    folder = checkout(tmp_path_factory.mktemp("desk") / "checkout")
    stub = folder / "exercises" / EX / "softmax_naive.py"
    stub.write_text(stub.read_text().replace("raise NotImplementedError", "return x", 1))
    return folder


def at_terminal(desk: Path, *words: str, **more: str) -> AtTerminal:
    """Somebody types this at a terminal."""
    return AtTerminal(["env", "-u", "CI", "-u", "MAKELEVEL", "-u", "MAKEFLAGS", *words], desk, **more)


def typed(desk: Path, *words: str, **more: str) -> tuple[int, str]:
    """The exit code and all that the terminal shows."""
    learner = at_terminal(desk, *words, **more)
    try:
        return learner.ends(120), learner.transcript
    finally:
        learner.close()


def piped(desk: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The same without a terminal."""
    return subprocess.run(words, cwd=desk, env=OUTSIDE, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize(
    ("words", "shown", "code"),
    [
        ("check EX=03", "not started yet", None),
        (f"check EX={EX} WHERE=0", "points · failed", 1),
        ("hint EX=02 TASK=1", "You have seen every hint for task 1", 2),
    ],
)
def test_an_answer_is_no_error_of_make_at_a_terminal(desk, words, shown, code):
    if "hint" in words:
        take_all_hints(desk)
    verb, *values = words.split()
    ended, transcript = typed(desk, "make", verb, *values, PYTHON)
    assert shown in transcript and ended == 0 and "***" not in transcript
    if verb == "check":
        assert f"Grading {values[0][3:5]}" in transcript  # while it waits
    if "not started" in shown:
        assert transcript.strip().splitlines()[-3:] == [
            "not started yet: open exercises/03_context_vectors/context_vectors.py",
            "Begin with the lesson: exercises/03_context_vectors/README.md",
            "Then leave this open beside your editor: make start EX=03",
        ]
    done = piped(desk, "make", verb, *values, PYTHON)
    assert shown in done.stdout + done.stderr and done.returncode == 2 and "***" in done.stderr
    if code is None:  # as that of a check that failed
        return
    options = [value.partition("=") for value in values]
    plain = [value if name == "EX" else f"--{name.lower()}={value}" for name, _, value in options]
    ended, transcript = typed(desk, sys.executable, "-m", "grader", verb, *plain)
    assert shown in transcript and ended == code  # kata keeps its promise everywhere


def take_all_hints(desk: Path) -> None:
    while piped(desk, sys.executable, "-m", "grader", "hint", "02", "--task", "1").returncode == 0:
        pass


def test_in_ci_and_for_wrong_use_make_fails_at_a_terminal_too(desk):
    take_all_hints(desk)
    learner = AtTerminal(["make", "hint", "EX=02", "TASK=1", PYTHON], desk, CI="true", MAKELEVEL="", MAKEFLAGS="")
    try:
        assert learner.ends(120) == 2 and "***" in learner.transcript
    finally:
        learner.close()
    ended, transcript = typed(desk, "make", "check", "EX=99", PYTHON)
    assert ended == 2 and 'No exercise is called "99"' in transcript


@pytest.mark.parametrize("verb", ["check", "watch"])
def test_ctrl_c_at_a_terminal_is_no_error_of_make(desk, verb):
    learner = at_terminal(desk, "make", verb, f"EX={EX}", PYTHON)
    try:
        learner.says("Grading 02" if verb == "check" else "quit")
        learner.type("\x03")
        learner.ends()
        assert "***" not in learner.transcript and "Traceback" not in learner.transcript
        assert verb == "watch" or "stopped" in learner.transcript
    finally:
        learner.close()


def planned(*words: str) -> subprocess.CompletedProcess[str]:
    """What make would run, with some program for Python."""
    return subprocess.run(
        ["make", "--dry-run", "PYTHON=kata", *words], cwd=paths.ROOT, env=OUTSIDE, capture_output=True, text=True
    )


def targets_with_ex() -> list[str]:
    """The targets that take EX, as the Makefile says."""
    blocks = paths.at_root("Makefile").read_text("utf-8").split("\n\n")
    return [block.partition(":")[0] for block in blocks if " $(READY" in block.partition("##")[0] and ",EX)" in block]


@pytest.mark.parametrize("target", targets_with_ex())
def test_a_word_behind_the_target_is_the_exercise(target):
    assert planned(target, "03").stdout.splitlines()[0] == planned(target, "EX=03").stdout.splitlines()[0] != ""


def test_every_verb_of_a_learner_that_takes_an_exercise_is_among_them():
    assert {
        "check",
        "watch",
        "start",
        "try",
        "hint",
        "review",
        "reset",
        "solution",
        "plot",
        "experiment",
        "notebook",
    } <= {*targets_with_ex()}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("check 03 04", "03 04 does nothing here. Type: make check EX=…"),
        ("check 03 EX=04", "03 does nothing here. Type: make check EX=…"),
        ("doctor 03", "03 does nothing here. Type: make doctor without it."),
        ("chekc 03", "There is no target chekc. To see all, type: make help."),
    ],
)
def test_a_word_that_says_nothing_is_refused(words, told):
    done = planned(*words.split())
    assert done.returncode == 2 and told in done.stderr


@pytest.mark.parametrize("name", ["SUBMISSION", "EX", "ALL", "OUTPUT", "FILES", "PYTEST"])
def test_a_value_with_a_dollar_is_not_run(tmp_path, name):
    """Neither by make, where it builds a command or exports the value, nor by the shell."""
    print_words = tmp_path / "words"
    print_words.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    print_words.chmod(0o755)
    value = f"$(shell touch {tmp_path}/made)" + ("" if name == "PYTEST" else f"`touch {tmp_path}/made`")
    target = {"FILES": "grade", "PYTEST": "test"}.get(name, "check")
    command = ["make", *(["--dry-run"] if name == "PYTEST" else []), target, f"PYTHON={print_words}", f"{name}={value}"]
    done = subprocess.run(command, cwd=paths.ROOT, env=OUTSIDE, capture_output=True, text=True)
    assert not (tmp_path / "made").exists() and done.returncode == 0, done.stderr
    assert name == "ALL" or value.split()[0] in done.stdout


def listed(target: str) -> list[str]:
    """The targets that a help lists."""
    done = subprocess.run(["make", target, PYTHON], cwd=paths.ROOT, env=OUTSIDE, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr
    assert max(map(len, done.stdout.splitlines()[1:])) <= 80
    return re.findall(r"^make ([a-z0-9-]+)", done.stdout, re.M)


def test_each_target_is_in_one_help():
    learners, teachers, authors = map(listed, ("help", "help-teacher", "help-author"))
    defined = re.findall(r"^([a-z0-9-]+):.*  ## ", paths.at_root("Makefile").read_text("utf-8"), re.M)
    assert sorted([*learners, *teachers, *authors]) == sorted(defined)
    assert learners[:3] == ["welcome", "start", "check"] and "grade" in teachers and "verify" in authors


TABLES = {"Learn": "help", "Teach": "help-teacher", "Write exercises": "help-author"}
EVERYBODYS = {"grade", "hooks", "documented", "init"}  # of use to learners and authors alike, or no target


@pytest.mark.parametrize("heading", TABLES)
def test_the_page_of_commands_sorts_verbs_as_the_help_does(heading):
    section = paths.COMMANDS.read_text("utf-8").split(f"\n## {heading}\n")[1].split("\n## ")[0]
    named = set(re.findall(r"^### ([a-z0-9-]+)$", section, re.M))
    assert named and named <= {*listed(TABLES[heading]), *EVERYBODYS}


def test_make_alone_says_hello_and_what_is_next(desk):
    done = piped(desk, "make", PYTHON)
    assert done.returncode == 0 and done.stdout.startswith("Attention, by hand\n\nWelcome")
    assert "make start" in done.stdout and done.stdout.rstrip().endswith("make help")
    assert len(done.stdout.splitlines()) < 15


def test_before_the_first_build_make_says_what_comes(tmp_path):
    (tmp_path / "Makefile").write_text(paths.at_root("Makefile").read_text("utf-8"))
    said = subprocess.run(["make", "--dry-run"], cwd=tmp_path, env=OUTSIDE, capture_output=True, text=True)
    assert said.stdout.startswith("Welcome! Before the first exercise, make fetches PyTorch")


def test_start_is_the_watch_at_what_is_next(desk):
    piped(desk, "make", "check", f"EX={EX}", "WHERE=0", PYTHON)  # begun, so it is not the warm-up that comes next
    learner = at_terminal(desk, "make", "start", PYTHON)
    try:
        learner.shows("01 Dot-product scores", "? keys", "q quit")
        learner.type("q")
        assert learner.ends() == 0
    finally:
        learner.close()


def test_a_pattern_in_files_stands_for_the_files_that_fit():
    said = planned("grade", "EX=03", "FILES=no_such.py pyproject.* constraints.txt").stdout
    assert "--files 'no_such.py' 'pyproject.toml' 'constraints.txt'" in said


def test_a_pythonpath_of_another_python_is_ignored(desk, tmp_path):
    """As clusters and ROS set it. make starts no Python with it: even the standard library could be another one."""
    (tmp_path / "numpy").mkdir()
    (tmp_path / "numpy/__init__.py").write_text('raise ImportError("built for Python 3.8")\n')
    environment = OUTSIDE | {"PYTHONPATH": str(tmp_path)}
    command = [sys.executable, str(desk / "grader/__main__.py"), "doctor"]
    done = subprocess.run(command, cwd=desk, env=environment, capture_output=True, text=True, timeout=200)
    assert f"ignored here: {tmp_path}" in done.stdout and "3.8" not in done.stdout + done.stderr
    (tmp_path / "typing.py").write_text('raise ImportError("of Python 3.8")\n')
    command = ["make", "check", f"EX={EX}", "WHERE=0", PYTHON]
    done = subprocess.run(command, cwd=desk, env=environment, capture_output=True, text=True, timeout=200)
    assert "points · failed" in done.stdout, done.stderr
