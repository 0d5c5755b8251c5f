"""Plain pytest on the checks of an exercise, as docs/authors.md shows it to authors."""

import subprocess
import sys
from pathlib import Path

from grader import catalog
from grader.catalog import paths

FOLDER = catalog.find("01").folder


def run_checks(*options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", f"grader/checks/{FOLDER}", *options]
    return subprocess.run(command, cwd=paths.ROOT, capture_output=True, text=True, timeout=300)


def test_a_missing_file_is_said_once_and_without_a_traceback(tmp_path: Path):
    missing = tmp_path / "none.py"
    done = run_checks("--submission", str(missing))
    assert (done.returncode, done.stderr.strip()) == (4, f"ERROR: There is no file {missing}.")


def test_it_names_the_file_and_the_seed_and_shows_what_the_learner_reads():
    said = run_checks("-k", "fresh_dot_product", "--seed", "7").stdout
    stub = paths.stub(FOLDER).relative_to(paths.ROOT)
    assert "submission: the exercise’s own file, seed 7" in said
    assert f"not written yet: dot_product ({stub}:" in said
