"""Plain pytest on the checks of an exercise, as docs/authors.md shows it to authors."""

import pytest

from grader import catalog
from grader.catalog import paths

FOLDER = catalog.find("01").folder


def test_it_says_which_file_is_missing_or_read_with_which_seed_and_what_is_wrong(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(paths.ROOT)
    checks, missing = ["-p", "no:cacheprovider", f"grader/checks/{FOLDER}"], tmp_path / "none.py"
    code = pytest.main([*checks, "--submission", str(missing)])
    assert (code, capsys.readouterr().err.strip()) == (4, f"ERROR: There is no file {missing}.")
    pytest.main([*checks, "-k", "fresh_dot_product", "--seed", "7"])
    said, stub = capsys.readouterr().out, paths.stub(FOLDER).relative_to(paths.ROOT)
    assert "submission: the exercise’s own file, seed 7" in said
    assert f"not written yet: dot_product ({stub}:" in said
