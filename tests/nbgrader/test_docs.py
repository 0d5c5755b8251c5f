"""docs/nbgrader.md: its commands, typed into a shell as they are written."""

import csv
import re
import subprocess

import pytest
from a_course import FOLDER, environment
from extras import needed

from grader.catalog import paths

pytestmark = pytest.mark.slow

needed("nbgrader", "classroom")


def test_from_an_empty_folder_to_marks_in_ten_commands(tmp_path, monkeypatch):
    text = (paths.DOCS / "nbgrader.md").read_text("utf-8")
    to_marks, to_feedback = (block.splitlines() for block in re.findall(r"```\n((?:kata|nbgrader) .*?)```", text, re.S))
    assert len(to_marks) == 10 and len(to_feedback) == 2
    work, home = tmp_path / "work", tmp_path / "home"
    work.mkdir()
    home.mkdir()
    tmp_path.chmod(0o755)
    monkeypatch.setenv("HOME", str(home))
    script = "set -e\n" + "\n".join(f"echo '$ {command}'\n{command}" for command in (*to_marks, *to_feedback))
    done = subprocess.run(
        ["bash", "-c", script], cwd=work, env=environment(), capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    with (work / "course" / "grades.csv").open() as file:
        (row,) = csv.DictReader(file)
    assert row["assignment"] == FOLDER and row["student_id"]
    assert (float(row["score"]), float(row["max_score"])) == (0.0, 7.0)
    assert row["student_id"] in (work / "course/results" / FOLDER / "class.html").read_text("utf-8")
    for folder in ("course/feedback", "exchange"):  # made, and released
        (page,) = (work / folder).rglob("*.html")
        assert "Not started yet" in page.read_text("utf-8")
    assert (work / "exchange").stat().st_mode & 0o777 == 0o777
