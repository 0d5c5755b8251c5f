"""The wheel is built, installed where nothing of the checkout is, and a learner walks through a folder of their own."""

import contextlib
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from at_terminal import AtTerminal
from made_once import made_once
from thorough import nightly

from grader import catalog
from grader.catalog import cards, paths, stubs
from grader.cli import shown_lists
from grader.integrations import bundle

pytestmark = pytest.mark.slow

first_minute = SimpleNamespace(**runpy.run_path(str(paths.ROOT / ".ci/first_minute.py")))
FOLDER = catalog.find("03").folder
STUB = f"exercises/{FOLDER}/{paths.slug(FOLDER)}.py"
RIGHT = paths.solution(FOLDER).read_text("utf-8")
WRONG = RIGHT.replace("dim=-1", "dim=0")
WORK = {  # what somebody has left in the checkout that the wheel is made from
    STUB: "LEFT_HERE = 1  # somebody was here\n",
    f"exercises/{FOLDER}/context_vectors.ipynb": "somebody was here",
    f"exercises/{FOLDER}/context_vectors.before-2026-01-01-000000.py": "somebody was here",
    "exercises/.kata-progress.json": "somebody was here",
}
LEFT_OUT = (
    "CI", "GRADER_DEBUG", "PYTEST_VERSION", "PYTEST_CURRENT_TEST", "PYTHONPATH", "MAKEFLAGS", "MAKELEVEL", "WARM",
)  # fmt: skip
WALK = (  # what the file is from here on, what is typed, its exit code, and what is said
    ("", "make check EX=03", 2, f"not started yet: open {STUB}"),
    ("", "kata solution 03", 2, "You have not passed 03 yet"),
    (WRONG, "kata check 03 --format json", 1, '"status": "failed"'),
    ("", "kata hint 03 --task 1", 0, "Task 1"),
    ("", "kata try 03", 0, "attention_weights(inputs)"),
    (RIGHT, "make check 03", 0, "7 of 7 points"),
    ("", "kata solution 03", 0, "torch.softmax(scores, dim=-1)"),
    ("", "kata plot 03", 0, "yours"),
    ("", "kata progress", 0, "✔ 03"),
    ("", "kata experiment 02", 0, "exercises/02_softmax_naive/experiment.py"),
    ("", "make reset EX=03", 0, "Your file is kept"),
)
DOCSTRING = RIGHT.split('"""')[1]
NEWER = (
    ("pyproject.toml", 'version = "', 'version = "9.'),
    (f"solutions/{FOLDER}/context_vectors.py", DOCSTRING, f"In newer words. {DOCSTRING}"),
    (f"exercises/{FOLDER}/README.md", "# 03", "# 03, newer:"),
)


class Machine:
    """A learner's machine: a home folder, and an environment with the wheel and nothing else of ours."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.bin = folder / "environment/bin"
        own = {"HOME": str(self.home), "XDG_CACHE_HOME": str(self.home / ".cache"), "PYTHONDONTWRITEBYTECODE": "1"}
        self.environment = {name: value for name, value in os.environ.items() if name not in LEFT_OUT} | own
        self.environment |= {"PATH": f"{self.bin}{os.pathsep}{os.environ['PATH']}", "XDG_RUNTIME_DIR": "", "WARM": "0"}
        self.environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}

    def __call__(self, *words: object, cwd: Path | None = None, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(word) for word in words], cwd=cwd or self.home, env=self.environment | more, capture_output=True,
            text=True, timeout=300, check=False,
        )  # fmt: skip

    @property
    def project(self) -> Path:
        """Where the package keeps what is handed out."""
        (found,) = self.bin.parent.glob("lib/python*/site-packages/grader/project")
        return found


@pytest.fixture(scope="module")
def machine(tmp_path_factory) -> Machine:
    def make(folder: Path) -> None:
        folder.mkdir()
        made = first_minute.build(folder, sys.executable, WORK)
        first_minute.install(made, folder / "environment", sys.executable)
        (folder / "home").mkdir()

    return Machine(made_once(tmp_path_factory, "machine", make))


@pytest.fixture(scope="module")
def fresh(machine) -> Path:
    """A folder as `kata init` makes it. Not to be changed."""
    done = machine("kata", "init", "fresh")
    assert done.returncode == 0 and "cd fresh\n  make start" in done.stdout, done.stderr
    return machine.home / "fresh"


@pytest.fixture
def mine(machine, fresh, request) -> Path:
    """A copy of it to work in."""
    return shutil.copytree(fresh, machine.home / f"my-{request.node.name[5:60]}", symlinks=True)


def everything(folder: Path) -> dict[str, bytes]:
    """All files below a folder but git's own, by name."""
    found = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in found.items() if not name.startswith(".git/")}


def test_the_wheel_holds_all_that_grading_needs_and_nobodys_work(machine):
    made = next((machine.home.parent / "dist").glob("*.whl"))
    with zipfile.ZipFile(made) as archive:
        names = set(archive.namelist())
        assert not [name for name in names if b"somebody was here" in archive.read(name)]
    for exercise in catalog.exercises():
        folder = exercise.folder
        assert f"grader/project/solutions/{folder}/{paths.slug(folder)}.py" in names
        assert f"grader/project/exercises/{folder}/README.md" in names
        assert f"grader/project/exercises/{folder}/{paths.slug(folder)}.py" not in names  # made for each folder
        ours = {f"grader/checks/{folder}/{path.name}" for path in paths.check_files(folder)}
        ours |= {f"grader/project/solutions/{folder}/right/{path.name}" for path in paths.styles(folder)}
        assert ours <= names
    assert not [name for name in names if name.startswith("tests/") or name.endswith((".pyc", ".ipynb"))]


def test_outside_of_a_folder_it_says_what_to_type(machine, tmp_path):
    for words in (("check", "03"), ("start",), ("progress",), ("solution", "03")):
        done = machine("kata", *words, cwd=tmp_path)
        assert done.returncode == 2 and "kata init my-attention" in done.stderr and done.stdout == "", words
    refused = machine("kata", "grade", "hand-ins", cwd=tmp_path)
    assert refused.returncode == 2 and "works in a clone" in refused.stderr and "git clone" in refused.stderr
    assert machine("kata", "--help", cwd=tmp_path).returncode == 0
    assert machine("kata", "grade", "--help", cwd=tmp_path).returncode == 0
    assert machine("kata", "--version", cwd=tmp_path).stdout.startswith("kata ")
    assert not list(tmp_path.iterdir())


def test_what_is_in_a_folder(mine, machine):
    content = everything(mine)
    tops = {name.partition("/")[0] for name in content}
    assert tops == {
        "README.md", "Makefile", "AGENTS.md", "LICENSE", ".gitignore", ".kata", ".vscode", "docs", "exercises",
    }  # fmt: skip
    given = dict(bundle.files())  # in which tests/integrations/test_bundle.py finds fresh stubs, and no solution
    assert {name: text for name, text in content.items() if name.startswith("exercises/")}.items() <= given.items()
    for exercise in catalog.exercises():
        for name in (f"{exercise.slug}.py", "README.md", "hints.md", "figure.svg", "experiment.py"):
            assert f"exercises/{exercise.folder}/{name}" in content
    left_out = (".pt", ".safetensors", "mistakes.md", "notice.md", "train.py")
    assert not [name for name in content if name.endswith(left_out)]
    assert not [name for name in content if "test_" in name or "exercise.toml" in name]
    log = machine("git", "log", "--format=%s", cwd=mine).stdout
    assert log == f"{bundle.checkout.HANDED_OUT} {content['.kata'].decode()}"
    assert machine("git", "status", "--porcelain", cwd=mine).stdout == ""


def test_its_makefile_has_the_learners_targets_alone(mine, machine):
    done = machine("make", "help", cwd=mine)
    assert done.returncode == 0 and done.stderr == ""
    listed = re.findall(r"^  ([a-z0-9]+) ", done.stdout, re.M)
    learn, more, *_ = shown_lists().values()
    assert {*listed} == {*learn, *more}
    text = (mine / "Makefile").read_text("utf-8")
    assert "venv" not in text and "$(PYTHON)" not in text and "pytest" not in text
    for words, told in (
        (("chekc",), "Did you mean check?"),
        (("check", "ex=03"), "Did you mean EX?"),
        (("verify",), "works in a clone"),
    ):
        refused = machine("make", *words, cwd=mine)
        assert refused.returncode == 2 and told in refused.stderr, refused.stderr
    without = machine(shutil.which("make"), "progress", cwd=mine, PATH="/usr/bin:/bin")
    assert "There is no kata on your PATH" in without.stderr


@nightly
def test_a_learner_walks_through_an_exercise(mine, machine):
    """In any folder below, with the hidden checks, and with the solution only after the pass."""
    below = mine / "exercises" / FOLDER
    for text, typed, code, told in WALK:
        if text:
            (mine / STUB).write_text(text, "utf-8")
        done = machine(*typed.split(), cwd=mine if typed.startswith("make") else below)
        assert done.returncode == code and told in done.stdout + done.stderr, typed
        if "json" in typed:
            checks = json.loads(done.stdout)["checks"]
            assert {check["id"] for check in checks} == set(catalog.find("03").points)  # the hidden ones too
            assert any(check["diagnosis"] for check in checks)
    assert [path.read_text("utf-8") for path in below.glob("*.before-*")] == [RIGHT]
    assert (mine / STUB).read_text("utf-8") == stubs.make(RIGHT)


def test_a_notebook_is_made_and_uses_what_is_installed(mine, machine):
    pytest.importorskip("jupytext", reason="(extra notebook)")
    done = machine("kata", "notebook", "03", cwd=mine)
    made = mine / STUB.replace(".py", ".ipynb")
    assert done.returncode == 0 and made.exists(), done.stderr
    cells = json.loads(made.read_text("utf-8"))["cells"]
    setup = next("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    setup = setup.replace("\nsetup()", "\nprint(root, check.__module__)")
    python = next(machine.bin.glob("python3"))
    said = machine(python, "-c", setup, cwd=made.parent)
    assert said.stdout == "None grader.integrations.notebook\n", said.stderr  # nothing was fetched


def test_the_watch_starts_in_it_and_there_are_cards_on_code_though_the_folder_has_none(mine, machine):
    (mine / STUB).write_text(WRONG, "utf-8")
    environment = {name: value for name, value in machine.environment.items() if name != "TERM"}
    words = ["env", "-i", *(f"{k}={v}" for k, v in environment.items()), "TERM=xterm-256color", "kata", "start", "03"]
    with AtTerminal(words, mine) as learner:
        learner.shows("03 Context vectors", "? keys", "q quit", seconds=120)
        (mine / STUB).write_text(RIGHT, "utf-8")
        learner.shows("7 of 7 points", seconds=120)
        learner.type("q")
        assert learner.ends() == 0
    progress = mine / ".kata-progress.json"
    progress.write_text(re.sub(r'"first_pass": \d+', '"first_pass": 1', progress.read_text("utf-8")), "utf-8")
    due = len(cards.read(FOLDER))
    assert f"{due} questions are due" in machine("kata", "progress", cwd=mine).stdout
    assert len(cards.questions((mine / f"exercises/{FOLDER}/review.md").read_text("utf-8")).split("\n## ")) - 1 < due


@contextlib.contextmanager
def newer(machine: Machine, *changes: tuple[str, str, str]) -> Iterator[None]:
    """A newer kata: files of the project with some text changed."""
    before = {name: (machine.project / name).read_text("utf-8") for name, _, _ in changes}
    for name, old, new in changes:
        text = (machine.project / name).read_text("utf-8")
        assert old in text, name
        (machine.project / name).write_text(text.replace(old, new), "utf-8")
    try:
        yield
    finally:
        for name, text in before.items():
            (machine.project / name).write_text(text, "utf-8")


def test_an_update_merges_new_stubs_around_what_was_written(mine, machine):
    own = (mine / STUB).read_text("utf-8").replace("raise NotImplementedError", "return inputs  # my own", 1)
    (mine / STUB).write_text(own, "utf-8")
    assert "There is nothing new" in machine("kata", "update", cwd=mine).stdout
    with newer(machine, *NEWER):
        assert "type: make update" in machine("kata", "progress", cwd=mine).stdout
        done = machine("make", "update", cwd=mine)
        assert done.returncode == 0, done.stderr
        assert f"{STUB} has the new parts around your code" in done.stdout
        text = (mine / STUB).read_text("utf-8")
        assert "# my own" in text and "In newer words." in text
        assert [path.read_text("utf-8") for path in (mine / STUB).parent.glob("*.before-*")] == [own]
        assert (mine / f"exercises/{FOLDER}/README.md").read_text("utf-8").startswith("# 03, newer:")
        assert (mine / ".kata").read_text("utf-8").startswith("9.")
        assert "make update" not in machine("kata", "progress", cwd=mine).stdout
        assert machine("git", "status", "--porcelain", cwd=mine).stdout == f" M {STUB}\n"
        assert "There is nothing new" in machine("kata", "update", cwd=mine).stdout
        assert (mine / STUB).read_text("utf-8") == text


def test_without_gits_history_an_update_changes_nothing(mine, machine):
    shutil.rmtree(mine / ".git")
    before = everything(mine)
    with newer(machine, *NEWER):
        done = machine("kata", "update", cwd=mine)
    assert done.returncode == 2 and "kata init ../my-attention-2" in done.stderr and everything(mine) == before


def test_a_folder_is_never_made_over_another_one(mine, machine):
    (mine / "notes.txt").write_text("mine", "utf-8")
    before = everything(mine)
    done = machine("kata", "init", mine.name)
    assert done.returncode == 2 and f"kata init {mine.name}-2" in done.stderr
    inside = machine("kata", "init", "another", cwd=mine)
    assert inside.returncode == 2 and "already" in inside.stderr
    assert everything(mine) == before
    assert not [path for path in machine.home.iterdir() if path.name.startswith(".kata-init")]


def test_git_is_not_needed(machine, tmp_path):
    """Programs are found in one folder alone, where there is no git."""
    only = tmp_path / "bin"
    only.mkdir()
    (only / "kata").symlink_to(machine.bin / "kata")
    mine = tmp_path / "Jo's kata"
    done = machine(machine.bin / "kata", "init", mine, PATH=str(only))
    assert done.returncode == 0 and "git is not here" in done.stdout, done.stderr
    assert (mine / STUB).exists() and not (mine / ".git").exists()
    (go,) = [line for line in done.stdout.splitlines() if line.startswith("  cd ")]
    assert subprocess.run(["sh", "-c", f"{go} && pwd"], capture_output=True, text=True).stdout.strip() == str(mine)


def test_what_an_extra_would_bring_is_named_for_an_installed_kata(mine, machine):
    code = "from grader.catalog import errors; print(errors.how_to_install('notebook'))"
    said = machine(next(machine.bin.glob("python3")), "-c", code, cwd=mine).stdout
    assert re.fullmatch(r"Type: \S+ (?:-m pip install|pip install --python \S+) 'jupytext>=[\d.]+' .*\n", said)
