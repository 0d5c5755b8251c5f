"""Fixtures of all tests: one fork server, the command line, and strictness about errors of the grader."""

import contextlib
import gc
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from browser import Tab, browser
from made_once import made_once

from grader import cli as command_line
from grader.authoring import parallel
from grader.catalog import Forbidden, paths
from grader.catalog.exercise import Limits
from grader.cli import learn, teach
from grader.records import containment
from grader.sandbox.forkserver import ForkServer
from grader.sandbox.worker_handle import Worker

SLOW = re.compile(r"^pytestmark = \[?\s*pytest\.mark\.slow", re.M)  # of a file of long tests: see pyproject.toml
# The real python3 comes before a shim of pyenv's, which takes a fifth of a second to find it: make asks several times.
os.environ["PATH"] = os.pathsep.join([str(Path(sys.base_prefix) / "bin"), os.environ["PATH"]])
os.environ.setdefault("OMP_NUM_THREADS", "1")  # the tensors here are small: threads of torch would wait for each other


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """How many processes `-n auto` means: one a core. One more took a tenth more processor time, and no less time."""
    return os.cpu_count() or 1


def is_slow(path: Path) -> bool:
    """True if a file says that its tests are long."""
    return path.suffix == ".py" and SLOW.search(path.read_text("utf-8")) is not None


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Slow tests that are left out are not imported either."""
    return True if config.option.markexpr == "not slow" and is_slow(collection_path) else None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """What is imported here stays to the end: the garbage collector, which took a sixth of the time, leaves it out."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long files begin first, so that no process of xdist, which runs whole files, works alone at the end."""
    slow = {path for path in {item.path for item in items} if is_slow(path)}
    items.sort(key=lambda item: item.path not in slow)


@pytest.fixture(autouse=True)
def strict(monkeypatch: pytest.MonkeyPatch) -> None:
    """Errors of the grader are raised, also where a learner would get a verdict without the part that failed."""
    # A setting of the process, as GRADER_DEBUG=1 makes it; a test may set it otherwise.
    monkeypatch.setattr(containment, "strict", True)


@pytest.fixture
def lenient(strict: None) -> None:
    """As a learner has it: an error of the grader costs no more than the part that failed."""
    containment.strict = False  # `strict` puts it back
    containment.report.cache_clear()


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search for a line has more time than at a learner's desk: a busy machine finds what a quiet one finds."""
    from grader.judge.where import trial  # heavy: torch, which the process that distributes the tests does without

    monkeypatch.setattr(trial, "LATEST_S", 1000.0)


class Roomy(ForkServer):
    """Keeps what each exercise asks for, as tests go from one to another: each takes two seconds to start."""

    def __init__(self) -> None:
        super().__init__()
        self.without: dict[object, ForkServer] = {}  # by what their workers lack: 02 and 29 lack the same

    def spawn(self, limits: Limits) -> Worker:
        return super().spawn(replace(limits, rule=self.server_for(limits).rule) if limits.rule else limits)

    def server_for(self, limits: Limits) -> ForkServer:
        if limits.rule is None:
            return super().server_for(limits)
        lacking = limits.rule.names, limits.rule.allowed
        if lacking not in self.without:
            self.without[lacking] = ForkServer(self.device, self.tier, limits.rule)
        return self.without[lacking]

    def keep(self, needs: tuple[str, ...], rules: tuple[Forbidden, ...]) -> None:
        """End nothing."""

    def close(self) -> None:
        for other in self.without.values():
            other.close()
        super().close()


@pytest.fixture(scope="session")
def fork_server() -> Iterator[ForkServer]:
    with Roomy() as shared:
        yield shared


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as running:
        yield running


@pytest.fixture(scope="module")
def tab(chromium: Any) -> Tab:
    return Tab(chromium)


@pytest.fixture(scope="session")
def cli() -> Callable[..., subprocess.CompletedProcess[str]]:
    """`cli("check", "03")` runs `python -m grader check 03` as a process."""

    def run(*arguments: object, cwd: Path = paths.ROOT, **options: Any) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "grader", *map(str, arguments)]
        return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120, check=False, **options)

    return run


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, as `make docs` builds it."""

    def build(out: Path) -> None:
        command = [sys.executable, "-m", "grader", "docs", "--output", str(out)]
        done = subprocess.run(command, cwd=paths.ROOT, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert str(out) in done.stdout

    return made_once(tmp_path_factory, "site", build)


@pytest.fixture
def said(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., subprocess.CompletedProcess[str]]:
    """`said("check", "03")` runs the same command in this process, with workers of the shared fork server.

    It serves tests of what a command prints and decides. `cli` serves tests of a process: streams, exit, imports,
    another checkout.
    """

    @contextlib.contextmanager
    def lent(device: str = "cpu", tier: str | None = None) -> Iterator[ForkServer]:
        assert (device, tier) == ("cpu", None), "the shared fork server has the strongest tier and no GPU"
        yield request.getfixturevalue("fork_server")  # which takes seconds to start, and not all commands grade

    from grader.classroom import explain  # heavy, too

    for module in (learn, explain, teach, parallel):  # each starts its own, and to start one takes seconds
        monkeypatch.setattr(module, "ForkServer", lent)

    def run(*arguments: object, cwd: Path = paths.ROOT) -> subprocess.CompletedProcess[str]:
        monkeypatch.chdir(cwd)
        words = list(map(str, arguments))
        capsys.readouterr()
        try:
            code = command_line.main(words)
        except SystemExit as ended:  # --help
            code = ended.code
        printed = capsys.readouterr()
        return subprocess.CompletedProcess(words, code, printed.out, printed.err)

    return run


@pytest.fixture
def here(fork_server: ForkServer, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Classes are graded in this process, by the real judge."""
    from in_this_process import Here  # heavy: torch, which the process that distributes the tests does without

    from grader.classroom import grade

    executor = Here(fork_server)
    monkeypatch.setattr(grade, "executor_of", executor)  # the command's own starts processes
    return executor


@pytest.fixture(scope="session")
def solutions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the solutions, which no test changes: they are ten times as many files as the exercises."""
    ignored = shutil.ignore_patterns("__pycache__")
    return made_once(
        tmp_path_factory, "solutions", lambda folder: shutil.copytree(paths.ROOT / "solutions", folder, ignore=ignored)
    )


@pytest.fixture
def relocate(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """`relocate(root, "EXERCISES")`: the grader of this process looks for them below another root. Returns the root.

    These places follow that of the package, which the tests share.
    """

    def move(root: Path, *names: str) -> Path:
        for name in names:
            monkeypatch.setattr(paths, name, root / getattr(paths, name).relative_to(paths.ROOT))
        return root

    return move


@pytest.fixture
def history(tmp_path: Path, relocate: Callable[..., Path]) -> Path:
    """A history of its own, in this process."""
    relocate(tmp_path, "PROGRESS", "LAST_RESULTS")
    return paths.PROGRESS


@pytest.fixture
def desk(tmp_path: Path, solutions: Path, relocate: Callable[..., Path], history: Path) -> Path:
    """A folder with exercises and progress of its own, and solutions, in which the grader of this process works."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(paths.EXERCISES, tmp_path / "exercises", ignore=ignored)
    relocate(tmp_path, "EXERCISES", "SOLUTIONS")
    paths.SOLUTIONS.symlink_to(solutions)
    return tmp_path


@pytest.fixture
def train_for(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """`train_for(1)`: a training has one step from now on, whatever its lesson says."""
    from grader.desk import training  # heavy: torch

    settings = training._settings

    def shorten(steps: int) -> None:
        monkeypatch.setattr(training, "_settings", lambda exercise: settings(exercise) | {"STEPS": steps})

    return shorten
