"""Collects the checks of an exercise by pytest, once in a process."""

import inspect
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from grader.catalog import Exercise, paths
from grader.catalog.errors import AuthorError, InfrastructureError

# The pytest that collects sees our checks alone: no plugins, no configuration, no conftest of anybody's.
ISOLATION = ["-c", os.devnull, "--rootdir", str(paths.CHECKS), "--noconftest", "--collect-only"]
ISOLATION += ["-p", "no:cacheprovider", "--import-mode=importlib", "--assert=plain"]
UNUSED = "terminal debugging doctest junitxml pastebin nose stepwise faulthandler logging setupplan setuponly"
UNUSED += " recwarn unraisableexception threadexception warnings capture legacypath tmpdir monkeypatch"
PLACE = re.compile(r"([^\s\"]+\.py)(?:\", line |:)(\d+)")  # in a traceback, and in pytest's own form
MARKER = "task(number, after, each): the task of the lesson a check belongs to, and what it builds on"


@dataclass(frozen=True)
class Check:
    """One check as pytest collected it.

    title: the line that the learner reads, the first of the docstring. task: of the lesson; after: the checks that it
    builds on; each: by function, the checks that its part about this function builds on. hidden: not in a learner's
    bundle. fixtures: the names of what it asks for.
    """

    id: str
    function: Callable[..., None]
    title: str
    task: int | None
    after: tuple[str, ...]
    each: Mapping[str, tuple[str, ...]] = field(hash=False)
    hidden: bool
    fixtures: tuple[str, ...]

    @property
    def measured(self) -> bool:
        """Whether it measures memory or compiles kernels, in workers of its own: the grader's process never runs it."""
        return not {"within_memory", "steady_memory", "compiles"}.isdisjoint(self.fixtures)

    @classmethod
    def of(cls, item: pytest.Function) -> "Check":
        """The check that pytest collected."""
        name, mark = item.name.removeprefix("test_"), item.get_closest_marker("task")
        return cls(
            id=name,
            function=item.function,
            title=(item.function.__doc__ or name.replace("_", " ")).strip().splitlines()[0],
            task=mark.args[0] if mark else None,
            after=mark.kwargs["after"] if mark else (),
            each=mark.kwargs["each"] if mark else {},
            hidden=item.path.name != paths.DOCUMENTED_CHECKS,
            fixtures=tuple(inspect.signature(item.function).parameters),
        )


_collected: dict[tuple[str, ...], tuple[Check, ...]] = {}  # by the files: they too are imported once
asked_for: dict[str, None] = {}  # the exercises whose checks this process has used, by their folders


def collect(exercise: Exercise) -> tuple[Check, ...]:
    """The checks of an exercise. Raises AuthorError where they cannot be read."""
    asked_for[exercise.folder] = None
    files = tuple(map(str, paths.checks(exercise.folder)))
    if files not in _collected:
        _collected[files] = _read(exercise, files)
    _demand_points(exercise, {check.id for check in _collected[files]})
    return _collected[files]


class Collector:
    """The plugin of pytest that keeps what was collected."""

    def __init__(self) -> None:
        self.items: list[pytest.Function] = []
        self.trouble = ""

    def pytest_configure(self, config: pytest.Config) -> None:
        config.addinivalue_line("markers", MARKER)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.trouble = self.trouble or _trouble(str(report.longrepr))

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.items = [item for item in session.items if isinstance(item, pytest.Function)]


def _read(exercise: Exercise, files: tuple[str, ...]) -> tuple[Check, ...]:
    """The checks as pytest collects them, which takes a tenth of a verdict."""
    collector = Collector()
    arguments = [word for name in UNUSED.split() for word in ("-p", f"no:{name}")]
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    os.environ.pop("PYTEST_ADDOPTS", None)
    code = pytest.main([*ISOLATION, *arguments, *files], plugins=[collector])
    if collector.trouble:
        raise AuthorError(collector.trouble)
    if not collector.items:
        raise InfrastructureError(f"the checks of {exercise.folder} could not be read (pytest ended with {code})")
    return tuple(Check.of(item) for item in collector.items)


def _trouble(report: str) -> str:
    """The file, the line and the error in pytest's report on a file that it cannot collect."""
    places = [(file, line) for file, line in PLACE.findall(report) if Path(file).resolve().is_relative_to(paths.CHECKS)]
    where = f"{paths.shown(Path(places[-1][0]))}:{places[-1][1]}: " if places else ""
    errors = [line.removeprefix("E").strip() for line in report.splitlines() if line.startswith("E ")]
    return f"{where}it cannot be read: {errors[-1] if errors else report.strip()}"


def _demand_points(exercise: Exercise, checks: set[str]) -> None:
    """[points] and the checks must name the same; in a learner's bundle the hidden ones are not there."""
    bundle = len(paths.checks(exercise.folder)) == 1
    unknown = checks - set(exercise.points) if bundle else checks ^ set(exercise.points)
    if unknown:
        names, toml = ", ".join(sorted(unknown)), paths.shown(paths.exercise_toml(exercise.folder))
        raise InfrastructureError(f"{toml}: [points] and the checks do not agree on {names}. See: make verify")
