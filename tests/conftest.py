"""What the tests share: one warm fork server, the real command line, and no error of ours that goes unnoticed."""

import contextlib
import shutil
import subprocess
import sys

import pytest

from grader import cli as command_line
from grader.authoring import parallel
from grader.catalog import paths
from grader.cli import cmd_check, cmd_grade, cmd_plot, cmd_report
from grader.records import containment
from grader.sandbox.forkserver import ForkServer

# One process of xdist runs a whole file: the longest begin first, so that none is left alone at the end.
LONGEST = (
    "test_hostile", "test_classroom", "test_cheating", "test_gradebook", "test_desk_watch", "test_notebook",
    "test_exercises", "test_rehearsal", "test_runner", "test_platforms", "test_verify", "test_formgrader",
    "test_docs_site", "test_class_page", "test_report_html", "test_deaths", "test_layers",
)  # fmt: skip
SLOW = {  # see the marker in pyproject.toml
    *LONGEST, "test_course", "test_docs", "test_desk_hooks", "test_bundle", "test_golden", "test_identity",
    "test_pictures", "test_edge_values", "test_find", "test_feedback", "test_seeds", "test_similar", "test_intake",
}  # fmt: skip


def pytest_collection_modifyitems(items) -> None:
    place = {name: number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(item.path.stem, len(place)))  # stable: the others stay in their order
    for item in items:
        if item.path.stem in SLOW:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(autouse=True)
def strict(monkeypatch):
    """What breaks in the grader is raised, though a class or a learner would get a verdict without it."""
    monkeypatch.setattr(containment.policy, "strict", True)


@pytest.fixture(scope="session")
def fork_server():
    with ForkServer() as warm:
        yield warm


@pytest.fixture(scope="session")
def cli():
    """`cli("check", "03")` runs `python -m grader check 03` for real."""

    def run(*arguments, cwd=paths.ROOT, **options) -> subprocess.CompletedProcess:
        command = [sys.executable, "-m", "grader", *map(str, arguments)]
        return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120, check=False, **options)

    return run


@pytest.fixture
def said(fork_server, monkeypatch, capsys):
    """`said("check", "03")` runs the same command in this process, and its workers are forked by the warm fork server.

    For what a command says and decides. `cli` is for what a process does: streams, exit, imports, another checkout.
    """

    @contextlib.contextmanager
    def lent(device: str = "cpu", tier: str | None = None):
        assert (device, tier) == ("cpu", None), "the warm fork server is of the strongest tier, without a GPU"
        yield fork_server

    for module in (cmd_check, cmd_grade, cmd_plot, cmd_report, parallel):
        monkeypatch.setattr(module, "ForkServer", lent)

    def run(*arguments, cwd=paths.ROOT) -> subprocess.CompletedProcess:
        monkeypatch.chdir(cwd)
        words = list(map(str, arguments))
        capsys.readouterr()
        try:
            code = command_line.main(words)
        except SystemExit as ended:  # --help
            code = ended.code
        done = capsys.readouterr()
        return subprocess.CompletedProcess(words, code, done.out, done.err)

    return run


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """A folder with exercises, solutions and a history of its own, which the grader of this process works in."""
    for name in ("EXERCISES", "SOLUTIONS", "PROGRESS", "LAST_RESULTS"):
        here = getattr(paths, name)
        monkeypatch.setattr(paths, name, tmp_path / here.relative_to(paths.ROOT))
        if name in ("EXERCISES", "SOLUTIONS"):
            shutil.copytree(here, getattr(paths, name), ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path
