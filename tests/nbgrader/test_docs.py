"""docs/nbgrader.md: its commands as they are written, at night typed into a shell."""

import csv
import re
import shlex
import subprocess

import pytest
from a_course import FOLDER, Course, environment
from extras import needed
from thorough import THOROUGH

from grader.catalog import paths

pytestmark = pytest.mark.slow

needed("nbgrader", "classroom")


def test_from_an_empty_folder_to_marks_in_ten_commands(tmp_path, monkeypatch, said, here):
    text = (paths.DOCS / "nbgrader.md").read_text("utf-8")
    to_marks, to_feedback = (block.splitlines() for block in re.findall(r"```\n((?:kata|nbgrader) .*?)```", text, re.S))
    assert len(to_marks) == 10 and len(to_feedback) == 2
    work, home = tmp_path / "work", tmp_path / "home"
    work.mkdir()
    home.mkdir()
    tmp_path.chmod(0o755)
    monkeypatch.setenv("HOME", str(home))
    commands = [*to_marks, *to_feedback]
    if THOROUGH:
        shell = ["bash", "-exc", "\n".join(commands)]
        done = subprocess.run(shell, cwd=work, env=environment(), capture_output=True, text=True, timeout=900)
        assert done.returncode == 0, done.stdout + done.stderr
    else:
        folder = work
        for program, *words in map(shlex.split, commands):
            if program == "cd":
                folder /= words[0]
            elif program == "kata":
                done = said(*words, cwd=folder)
                assert done.returncode == 0, done.stderr
            else:
                Course(folder).nbgrader(*words)
    with (work / "course" / "grades.csv").open() as file:
        (row,) = csv.DictReader(file)
    assert row["assignment"] == FOLDER and row["student_id"]
    assert (float(row["score"]), float(row["max_score"])) == (0.0, 7.0)
    assert row["student_id"] in (work / "course/results" / FOLDER / "class.html").read_text("utf-8")
    for folder in ("course/feedback", "exchange"):  # made, and released
        (page,) = (work / folder).rglob("*.html")
        assert "Not started yet" in page.read_text("utf-8")
    assert (work / "exchange").stat().st_mode & 0o777 == 0o777
