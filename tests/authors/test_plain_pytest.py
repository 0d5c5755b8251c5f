"""Plain pytest on the checks of an exercise, as docs/authors.md shows it to authors."""

from pathlib import Path

import pytest

from grader import catalog
from grader.catalog import paths

FOLDER = catalog.find("01").folder


@pytest.fixture
def run_checks(monkeypatch, capsys):
    """The exit code, and what is printed and told as an error."""
    monkeypatch.chdir(paths.ROOT)

    def run(*options: str) -> tuple[int, str, str]:
        code = pytest.main(["-p", "no:cacheprovider", f"grader/checks/{FOLDER}", *options])
        return (code, *capsys.readouterr())

    return run


def test_a_missing_file_is_said_once_and_without_a_traceback(run_checks, tmp_path: Path):
    missing = tmp_path / "none.py"
    code, _, told = run_checks("--submission", str(missing))
    assert (code, told.strip()) == (4, f"ERROR: There is no file {missing}.")


def test_it_names_the_file_and_the_seed_and_shows_what_the_learner_reads(run_checks):
    _, said, _ = run_checks("-k", "fresh_dot_product", "--seed", "7")
    stub = paths.stub(FOLDER).relative_to(paths.ROOT)
    assert "submission: the exercise’s own file, seed 7" in said
    assert f"not written yet: dot_product ({stub}:" in said
