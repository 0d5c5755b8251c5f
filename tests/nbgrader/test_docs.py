"""docs/nbgrader.md: the ten commands, run as written."""

import csv
import os
import re
import subprocess

import pytest

pytest.importorskip("nbgrader.api", reason="nbgrader is not installed (extra classroom)")

from a_course import environment

from grader.catalog import paths


def test_from_an_empty_folder_to_grades_in_ten_commands(tmp_path):
    text = (paths.DOCS / "nbgrader.md").read_text("utf-8")
    commands = re.search(r"```\n(python -m grader nbgrader .*?)```", text, re.DOTALL)[1].splitlines()
    assert len(commands) == 10
    work = tmp_path / "work"
    work.mkdir()
    (tmp_path / "home").mkdir()
    tmp_path.chmod(0o755)
    script = "set -e\n" + "\n".join(f"echo '$ {command}'\n{command}" for command in commands)
    variables = environment() | {"HOME": str(tmp_path / "home")}
    done = subprocess.run(
        ["bash", "-c", script], cwd=work, env=variables, capture_output=True, text=True, timeout=280, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    with (work / "course" / "grades.csv").open() as file:
        (row,) = csv.DictReader(file)
    assert row["assignment"] == "03_context_vectors" and row["student_id"]
    assert (float(row["score"]), float(row["max_score"])) == (0.0, 7.0)
    (page,) = (work / "course" / "feedback").rglob("*.html")
    assert "Not started yet" in page.read_text("utf-8")
    assert os.listdir(work) and (work / "exchange").stat().st_mode & 0o777 == 0o777
