"""The git hooks and the editors' files, with the real git, the real pre-commit and the real make, in a repository."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest
from copies import GIT
from thorough import THOROUGH

from grader import catalog
from grader.catalog import mistakes, paths
from grader.cli.options import DECLARED

pytestmark = pytest.mark.slow

FOLDER, OTHER = (exercise.folder for exercise in catalog.for_class()[2:4])


class Repository:
    """A repository with this project in it, the hooks installed, and a remote to push to."""

    def __init__(self, place):
        self.path = place / "kata"
        # Compiled modules come along: each process would spend a second on compiling them anew.
        kept_out = shutil.ignore_patterns("*.pyc.*", ".venv", ".git", ".kata*", ".*_cache", "hostile")
        shutil.copytree(paths.ROOT, self.path, ignore=kept_out)
        self.environment = {**os.environ, **GIT, "PRE_COMMIT_HOME": str(place / "pre-commit")}
        self.file = self.path / "exercises" / FOLDER / f"{paths.slug(FOLDER)}.py"
        self.fresh = self.file.read_text()
        self.run("git", "init", "--quiet", "--initial-branch=main", ".")
        self.run("git", "init", "--quiet", "--bare", str(place / "remote"))
        self.run("git", "remote", "add", "origin", str(place / "remote"))
        self.run("git", "config", "kata.python", sys.executable)
        self.run(sys.executable, "-m", "pre_commit", "install")
        self.first = self.commit()
        self.run("git", "push", "--quiet", "--no-verify", "origin", "main")

    def run(self, *command: str, fails: bool = False) -> subprocess.CompletedProcess:
        done = subprocess.run(command, cwd=self.path, env=self.environment, capture_output=True, text=True, timeout=120)
        assert bool(done.returncode) == fails, done.stdout + done.stderr
        return done

    def commit(self, fails: bool = False) -> str:
        """Commit all there is; gives what was said. A commit that is refused is taken back."""
        self.run("git", "add", "--all")
        done = self.run("git", "commit", "--message=change", fails=fails)
        if fails:
            self.run("git", "reset", "--quiet", "--hard")
            self.run("git", "clean", "--quiet", "-d", "--force")
        return done.stdout + done.stderr

    def push(self, fails: bool = False) -> str:
        done = self.run("git", "push", "origin", "main", fails=fails)
        return done.stdout + done.stderr


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    pytest.importorskip("pre_commit", reason="pre-commit is not installed (extra dev)")
    return Repository(tmp_path_factory.mktemp("hooks"))


def test_all_files_of_a_clean_checkout_are_committed(repository):
    assert "Failed" not in repository.first and repository.first.count("Passed") == 4


def test_each_hook_refuses_what_it_finds(repository):
    """In one commit: a stub out of step, what ruff finds, and the solution in three files."""
    repository.file.write_text(repository.fresh.replace("inputs: torch.Tensor", "tokens: torch.Tensor"))
    (repository.path / "grader" / "worse.py").write_text("import os\n")
    (repository.path / "grader" / "uglier.py").write_text("x  =  1\n")
    solution = paths.solution(FOLDER).read_text("utf-8")
    body = "    scores = inputs @ inputs.T\n    return torch.softmax(scores, dim=-1)\n"
    hints = f"# Hints\n\n```python\n{body}```\n"
    cell = {"cell_type": "code", "metadata": {}, "source": [solution], "outputs": [], "execution_count": None}
    notebook = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)
    files = {"mine.py": solution, "mine.ipynb": notebook + "\n", "hints.md": hints}
    for name, text in files.items():
        (repository.file.parent / name).write_text(text)
        repository.run("git", "add", "--force", str(repository.file.parent / name))  # git ignores notebooks there
    said = repository.commit(fails=True)
    assert f"make verify EX={FOLDER[:2]} WRITE=1" in said
    assert "F401" in said and "reformatted" in said
    for name in files:
        assert f"{FOLDER}/{name} holds the solution of attention_weights" in said


def test_a_push_is_graded(repository):
    """At night a second exercise with it, which passes."""
    commit = ["git", "commit", "--quiet", "--no-verify", "--all", "--message=work"]
    other = repository.path / paths.stub(OTHER).relative_to(paths.ROOT)
    repository.file.write_text(mistakes.mistakes(FOLDER)[0].source)
    if THOROUGH:
        other.write_text(paths.solution(OTHER).read_text("utf-8"))
    repository.run(*commit)
    repository.file.write_text(paths.solution(FOLDER).read_text("utf-8"))  # what is pushed counts, not what lies there
    said = repository.push(fails=True)
    assert re.search(rf"{FOLDER}: [\d.]+ of 7 points\. \w+", said) and f"make check EX={FOLDER[:2]} SEED=" in said
    assert bool(re.search(rf"{OTHER}: (\d+) of \1 points\.\n", said)) == THOROUGH
    assert said.count(" points.") == 1 + THOROUGH
    assert "git config kata.prepush false" in said
    repository.run("git", "config", "kata.prepush", "false")
    repository.push()
    repository.run("git", "config", "kata.prepush", "true")
    repository.file.write_text(repository.fresh)  # a fresh stub is nothing to judge
    repository.run(*commit)
    assert "points" not in repository.push()


def uncommented(name: str) -> dict:
    lines = (paths.ROOT / name).read_text("utf-8").splitlines()
    return json.loads("\n".join(line for line in lines if not line.lstrip().startswith("//")))


TASKS, CONTAINER = uncommented(".vscode/tasks.json")["tasks"], uncommented(".devcontainer/devcontainer.json")


def test_the_editors_run_targets_that_there_are():
    typed = [" ".join([task["command"], *task.get("args", [])]) for task in TASKS]
    targets = [re.search(r"\bmake ([a-z-]+)", words)[1] for words in typed]
    assert {"check", "hint", "progress", "start"} <= {*targets}
    assert {*targets, CONTAINER["postCreateCommand"].removeprefix("make ")} <= {*DECLARED}


def test_a_codespace_opens_with_the_first_lesson_and_the_watch(tmp_path):
    first = next(exercise for exercise in catalog.exercises() if not exercise.path.warm_up)
    opened = CONTAINER["customizations"]["codespaces"]["openFiles"]
    assert opened == [str(paths.lesson(first.folder).relative_to(paths.ROOT))]
    (automatic,) = [task for task in TASKS if task.get("runOptions", {}).get("runOn") == "folderOpen"]
    (tmp_path / "make").write_text('#!/bin/sh\necho "make $*"\n')
    (tmp_path / "make").chmod(0o755)
    path = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    said = [
        subprocess.run(["sh", "-c", automatic["command"]], env=path | more, capture_output=True, text=True, check=True)
        for more in (CONTAINER["containerEnv"], {})
    ]
    assert [one.stdout for one in said] == ["make start\n", ""]  # nobody else's editor starts anything


def test_the_editor_finds_the_line_of_an_error(said, tmp_path):
    """As VS Code does it: the patterns of a matcher fit lines that follow one another."""
    source = "import torch\n\n\ndef attention_weights(inputs):\n    return inpts @ inputs.T\n\n\n"
    source += "def context_vector(inputs, query_index):\n    raise NotImplementedError\n"
    file = tmp_path / "mine.py"
    file.write_text(source)
    lines = said("check", "03", "--submission", file).stdout.splitlines()
    matchers = TASKS[0]["problemMatcher"]
    found = [problem for matcher in matchers for problem in matches(matcher["pattern"], lines)]
    assert any("NameError" in text and place == (str(file), "5") for text, place in found), found
    assert any("not written yet" in text and place == (str(file), "9") for text, place in found), found


def matches(patterns: list[dict], lines: list[str]) -> list[tuple[str, tuple[str, str]]]:
    found = []
    for start in range(len(lines) - len(patterns) + 1):
        fits = [re.search(pattern["regexp"], line) for pattern, line in zip(patterns, lines[start:])]
        if all(fits):
            known: dict[str, str] = {}
            for pattern, fit in zip(patterns, fits):
                known |= {name: fit[group] for name, group in pattern.items() if name != "regexp"}
            found.append((known["message"], (known["file"], known["line"])))
    return found
