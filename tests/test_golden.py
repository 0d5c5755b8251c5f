"""Real files through the real command line: one folder in golden/ for each situation.

`expected.toml` says the exercise, the exit code, what must be said and what must not.
"""

import re
from pathlib import Path

import pytest

from grader.catalog import tomllib

GOLDEN = Path(__file__).parent / "golden"
SITUATIONS = sorted(path.parent for path in GOLDEN.glob("*/expected.toml"))


@pytest.mark.parametrize("folder", SITUATIONS, ids=lambda folder: folder.name)
def test_situation(folder, cli):
    expected = tomllib.loads((folder / "expected.toml").read_text("utf-8"))
    submission = folder / expected["file"]
    done = cli("check", expected["exercise"], "--submission", submission, "--seed", 7, *expected["arguments"])
    said = re.sub(r"\s+", " ", done.stdout)
    assert done.returncode == expected["exit"], done.stdout + done.stderr
    assert done.stderr == ""
    for words in expected["says"]:
        assert re.sub(r"\s+", " ", words) in said, done.stdout
    for words in [*expected["silent"], "Traceback (most recent"]:
        assert words not in done.stdout, done.stdout


def test_a_directory(cli, tmp_path):
    done = cli("check", "03", "--submission", tmp_path)
    assert done.returncode == 1
    assert "is a directory. Name the .py or .ipynb file inside it" in done.stdout


def test_a_file_of_100_mb(cli, tmp_path):
    path = tmp_path / "context_vectors.py"
    path.write_bytes(b"x = 1\n" * 17_000_000)
    done = cli("check", "03", "--submission", path)
    assert done.returncode == 1
    assert "is too large: 102.0 MB" in done.stdout


def test_a_symbolic_link(cli, tmp_path):
    path = tmp_path / "context_vectors.py"
    path.symlink_to("/etc/passwd")
    done = cli("check", "03", "--submission", path)
    assert done.returncode == 1
    assert "is a symbolic link. Hand in the file itself" in done.stdout


def test_no_such_file(cli, tmp_path):
    done = cli("check", "03", "--submission", tmp_path / "nothing.py")
    assert done.returncode == 2
    assert "There is no file" in done.stderr
    assert done.stdout == ""
