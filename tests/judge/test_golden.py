"""Real files through the command line: `golden.toml` says what each must give.

Of each situation it holds the exercise, the exit code, the file, what must be said and what never.
"""

import os
import re

import pytest
from situations import SITUATIONS, file
from thorough import nightly

pytestmark = pytest.mark.slow

# Through the process that people start: odd bytes on both sides, and every night the other exit code of a verdict.
WHOLE = ("prints_escape_codes", pytest.param("right_answer", marks=nightly))


@pytest.mark.parametrize("name", SITUATIONS)
def test_situation(name, said):
    assert_as_expected(said, name)


@pytest.mark.parametrize("name", WHOLE)
def test_situation_through_a_process_of_its_own(name, cli):
    assert_as_expected(cli, name)


def assert_as_expected(run, name: str) -> None:
    expected = SITUATIONS[name]
    exercise, arguments = expected.get("exercise", "03"), expected.get("arguments", [])
    done = run("check", exercise, "--submission", file(name), "--seed", 7, "--where", 0, *arguments)
    text = re.sub(r"\s+", " ", done.stdout)
    assert done.returncode == expected["exit"], done.stdout + done.stderr
    assert done.stderr == ""
    for words in expected["says"]:
        assert re.sub(r"\s+", " ", words) in text, done.stdout
    for words in [*expected.get("never", []), "Traceback"]:
        assert words not in done.stdout, done.stdout


def test_every_situation_was_found():
    assert len(SITUATIONS) >= 80


ODD = "\x1b[31m\u202e\n::error::x.py"  # the end of a name
NO_SOURCE = {
    "": "is a directory. Name the .py or .ipynb file inside it",
    "large.py": "is too large: 102.0 MB",
    "link.py": "is a symbolic link. Hand in the file itself",
    f"pipe{ODD}": "is not a regular file",
    "hard.py": "is a hard link to another file. Hand in a copy",
}


def test_what_holds_no_source_is_told(said, tmp_path):
    """A hard link is refused only of a stranger: backups make them."""
    with (tmp_path / "large.py").open("wb") as large:
        large.truncate(102_000_000)
    (tmp_path / "link.py").symlink_to("/etc/passwd")
    os.mkfifo(tmp_path / f"pipe{ODD}")
    (tmp_path / "hard.py").hardlink_to(file("right_answer"))
    (tmp_path / f"right{ODD}").write_bytes(file("right_answer").read_bytes())
    for name, words in NO_SOURCE.items():
        done = said("check", "03", "--submission", tmp_path / name)
        assert (done.returncode, words in done.stdout) == ((0, False) if name == "hard.py" else (1, True))
    done = said("grade", "--ex", "03", "--files", tmp_path / f"right{ODD}", *(tmp_path / name for name in NO_SOURCE))
    assert done.returncode == 1 and "7 of 7 points" in done.stdout
    assert not [words for words in NO_SOURCE.values() if words not in done.stdout]
    assert not [sign for sign in ("\x1b", "\u202e", "\n::error") if sign in done.stdout]
    done = said("check", "03", "--submission", tmp_path / "nothing.py")
    assert (done.returncode, done.stdout) == (2, "") and "There is no file" in done.stderr
