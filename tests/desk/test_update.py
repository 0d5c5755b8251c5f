"""`make update`: what the project changed comes in, and nothing that a learner wrote is lost."""

import subprocess
from pathlib import Path

import pytest
from copies import GIT

from grader.catalog import paths

STUB = '''"""Softmax."""

import torch


def first(x):
    """The first."""
    raise NotImplementedError


def second(x):
    """The second."""
    raise NotImplementedError
'''
OWN = STUB.replace("    raise NotImplementedError", "    return x + 1  # my own", 1)
NEWER = STUB.replace("The second.", "The second, in plainer words.").replace("Softmax.", "Softmax, by hand.")
NAME = "exercises/02_softmax_naive/softmax_naive.py"


@pytest.fixture
def git(monkeypatch):
    """`git(folder, "status")` runs git there."""
    for name, value in GIT.items():
        monkeypatch.setenv(name, value)

    def run(folder: Path, *words: str) -> str:
        return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True).stdout

    return run


@pytest.fixture
def project(git, tmp_path):
    """The project's own repository, with one stub."""
    folder = tmp_path / "project"
    (folder / NAME).parent.mkdir(parents=True)
    (folder / NAME).write_text(STUB)
    (folder / "README.md").write_text("one\n")
    (folder / ".gitignore").write_text((paths.ROOT / ".gitignore").read_text())
    git(folder, "init", "--quiet", "--initial-branch", "main")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "begin")
    return folder


@pytest.fixture
def clone(git, project, tmp_path, relocate):
    """A learner's clone of it, with code of their own, in which the grader of this process works."""
    git(tmp_path, "clone", "--quiet", str(project), "clone")
    (tmp_path / "clone" / NAME).write_text(OWN)
    return relocate(tmp_path / "clone", "DESK", "EXERCISES")


def commit(git, folder: Path, name: str, text: str) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "change")


def copies(clone: Path) -> list[str]:
    return [path.read_text() for path in sorted((clone / NAME).parent.glob("*.before-*"))]


def test_a_new_stub_is_merged_around_the_learners_code(git, project, clone, said):
    commit(git, project, NAME, NEWER)
    done = said("update", cwd=clone)
    text = (clone / NAME).read_text()
    assert done.returncode == 0, done.stderr
    assert "return x + 1  # my own" in text and "in plainer words" in text and "by hand" in text
    assert f"{NAME} has the new parts around your code" in done.stdout and copies(clone) == [OWN]
    assert git(clone, "rev-parse", "HEAD") == git(project, "rev-parse", "HEAD")
    assert git(clone, "status", "--porcelain") == f" M {NAME}\n"  # the copy is ignored
    again = said("update", cwd=clone)
    assert again.stdout == "There is nothing new.\n" and (clone / NAME).read_text() == text


def test_where_both_changed_the_same_line_the_learners_is_kept(git, project, clone, said):
    commit(git, project, NAME, NEWER.replace("raise NotImplementedError", "return given(x)", 1))
    assert said("update", cwd=clone).returncode == 0
    text = (clone / NAME).read_text()
    assert "# my own" in text and "given(x)" not in text and "in plainer words" in text


def test_a_merge_that_is_no_python_leaves_the_learners_file(git, project, clone, said):
    commit(git, project, NAME, STUB.replace("The second.", 'The "second" """ '))
    done = said("update", cwd=clone)
    assert done.returncode == 0 and (clone / NAME).read_text() == OWN and copies(clone) == [OWN]
    assert "is as you left it" in done.stdout


def test_committed_work_is_merged_too_on_a_branch_of_ones_own(git, project, clone, said):
    git(clone, "switch", "--quiet", "-c", "mine")
    commit(git, clone, NAME, OWN)
    (clone / NAME).write_text(OWN.replace("my own", "my own, later"))
    commit(git, project, NAME, NEWER)
    done = said("update", cwd=clone)
    text = (clone / NAME).read_text()
    assert done.returncode == 0, done.stderr
    assert "my own, later" in text and "in plainer words" in text
    committed = git(clone, "show", f"HEAD:{NAME}")
    assert "# my own\n" in committed and "in plainer words" in committed


def test_what_git_refuses_leaves_everything_as_it_was(git, project, clone, said):
    (clone / "exercises/notes.md").write_text("mine, which git does not know")
    commit(git, project, NAME, NEWER)
    commit(git, project, "exercises/notes.md", "the project's")
    done = said("update", cwd=clone)
    assert done.returncode == 2 and "your files are as they were" in done.stderr and "notes.md" in done.stderr
    assert (clone / NAME).read_text() == OWN and copies(clone) == []
    assert (clone / "exercises/notes.md").read_text() == "mine, which git does not know"


def test_a_file_that_the_project_removed_is_kept_as_a_copy(git, project, clone, said):
    git(project, "rm", "--quiet", NAME)
    git(project, "commit", "--quiet", "-m", "remove")
    assert said("update", cwd=clone).returncode == 0
    assert (clone / NAME).read_text() == OWN


def test_without_a_network_or_a_clone_one_sentence_says_so(git, project, clone, said):
    project.rename(project.with_name("away"))
    done = said("update", cwd=clone)
    assert done.returncode == 3 and "cannot be reached" in done.stderr and len(done.stderr.splitlines()) == 1
    (clone / ".git").rename(clone / "git")
    assert "Unpack the new zip" in said("update", cwd=clone).stderr
    assert (clone / NAME).read_text() == OWN
