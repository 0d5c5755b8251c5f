"""docs/nbgrader.md: the ten commands, as written: in this process, or with THOROUGH=1 typed into a shell."""

import csv
import os
import re
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

from a_course import Course, environment
from extras import needed
from thorough import THOROUGH

from grader.catalog import paths

needed("nbgrader", "classroom")


def test_from_an_empty_folder_to_grades_in_ten_commands(tmp_path, said, monkeypatch):
    text = (paths.DOCS / "nbgrader.md").read_text("utf-8")
    commands = re.search(r"```\n(kata nbgrader .*?)```", text, re.DOTALL)[1].splitlines()
    assert len(commands) == 10
    work = tmp_path / "work"
    work.mkdir()
    (tmp_path / "home").mkdir()
    tmp_path.chmod(0o755)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    if THOROUGH:
        typed(commands, work)
    else:
        called(commands, work, said)
    with (work / "course" / "grades.csv").open() as file:
        (row,) = csv.DictReader(file)
    assert row["assignment"] == "03_context_vectors" and row["student_id"]
    assert (float(row["score"]), float(row["max_score"])) == (0.0, 7.0)
    (page,) = (work / "course" / "feedback").rglob("*.html")
    assert "Not started yet" in page.read_text("utf-8")
    assert os.listdir(work) and (work / "exchange").stat().st_mode & 0o777 == 0o777


def typed(commands: list[str], work: Path) -> None:
    """Run the commands by a shell. nbgrader takes some two seconds to import, for each of them."""
    script = "set -e\n" + "\n".join(f"echo '$ {command}'\n{command}" for command in commands)
    done = subprocess.run(
        ["bash", "-c", script], cwd=work, env=environment(), capture_output=True, text=True, timeout=280, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def called(commands: list[str], work: Path, said: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    """Run what the commands run, in this process."""
    for command in commands:
        match shlex.split(command):
            case ["kata", *words]:
                done = said(*words, cwd=work)
                assert done.returncode == 0, done.stderr
            case ["cd", folder]:
                work = work / folder
            case ["nbgrader", verb, *words]:
                Course(work).nbgrader(verb, *words)
            case _:
                raise AssertionError(f"a command of another kind: {command}")
