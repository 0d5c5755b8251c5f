"""The checks of one exercise: collected once by pytest, run against one subject after the other.

A subject is a `Learner`: a submission in its worker, or a known mistake in this process.
"""

import inspect
import os
from collections.abc import Callable
from dataclasses import dataclass

import pytest
import torch

from grader.catalog import Exercise, paths
from grader.catalog.errors import BadSubmission, InfrastructureError
from grader.judge.fixtures import FIXTURES
from grader.judge.mismatch import Mismatch
from grader.judge.proxy import Learner, without_objects
from grader.judge.words import kind
from grader.records import containment
from grader.records.seeds import part
from grader.sandbox.call_results import Call, LearnerError
from grader.sandbox.recorder import Replayer
from grader.sandbox.transcript import Stop

# The pytest that collects sees our checks alone: no plugins, no configuration, no conftest of anybody's.
ISOLATION = ["-c", os.devnull, "--rootdir", str(paths.CHECKS), "--noconftest", "--collect-only"]
ISOLATION += ["-p", "no:cacheprovider", "--import-mode=importlib", "--assert=plain"]
UNUSED = "terminal debugging doctest junitxml pastebin nose stepwise faulthandler logging setupplan setuponly"
UNUSED += " recwarn unraisableexception threadexception warnings capture legacypath tmpdir monkeypatch"


class BrokenCheck(Exception):
    """A check itself broke: its `__cause__` is what it raised."""


@dataclass(frozen=True)
class Check:
    """One check as pytest collected it.

    title: the line that the learner reads, the first of the docstring. task: of the lesson; after: the checks that it
    builds on. hidden: not in a learner's bundle. fixtures: the names of what it asks for.
    """

    id: str
    function: Callable[..., None]
    title: str
    task: int | None
    after: tuple[str, ...]
    hidden: bool
    fixtures: tuple[str, ...]

    @property
    def measured(self) -> bool:
        """Whether it measures memory: then its inputs are large, and the grader's own process never runs it."""
        return "within_memory" in self.fixtures

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
            hidden=item.path.name != paths.DOCUMENTED_CHECKS,
            fixtures=tuple(inspect.signature(item.function).parameters),
        )


class Session:
    """The checks of an exercise with one seed. Use it as a context manager: they are collected on entering.

    Raises InfrastructureError where the checks cannot be read, or do not agree with the exercise's points.
    """

    def __init__(self, exercise: Exercise, seed: int):
        self.exercise, self.seed = exercise, seed
        self.checks: tuple[Check, ...] = ()
        self.subject: Learner | None = None
        self.numbers_read: set[str] = set()  # ids of the documented numbers that checks looked at
        self._solution: Replayer | None = None

    def __enter__(self) -> "Session":
        torch.set_num_threads(1)  # tiny tensors; threads would only wait for each other
        self.checks = collect(self.exercise)
        return self

    def __exit__(self, *exception: object) -> None:
        self.forget()

    def run(self, check: Check, subject: Learner) -> tuple[BaseException | None, list[Call]]:
        """Run one check against one subject. Returns its error (None: passed) and the calls made.

        The check is called as it is: pytest's own way takes a millisecond. Raises BrokenCheck where the check breaks.
        """
        self.begin(check, subject)
        try:
            check.function(**{name: FIXTURES[name](self, check.id) for name in check.fixtures})
            error: BaseException | None = None
        except (Exception, pytest.fail.Exception, pytest.skip.Exception) as raised:
            error = self._judge(raised, subject)
        self.subject = None
        return error and _light(error), list(subject.calls)

    def begin(self, check: Check, subject: Learner) -> None:
        """From now on the fixtures are those of this check on this subject."""
        self.subject = subject
        subject._begin(part(self.seed, check.id))

    def reference(self, check: str) -> Learner:
        """The proxy before the solution, for one check."""
        if self._solution is None:
            self._solution = Replayer.load(paths.solution(self.exercise.folder), self.exercise.slug)
        self._solution.begin(check)
        learner = Learner(self._solution)
        assert self.subject is not None, "a check runs on a subject"
        learner._begin(self.subject._seed)
        return learner

    def forget(self) -> None:
        """Keep nothing of the subjects so far."""
        self.subject = self._solution = None

    def _judge(self, error: BaseException, subject: Learner) -> BaseException:
        """A check that broke on the learner's answer says what the answer was."""
        if isinstance(error, (AssertionError, LearnerError, Stop)):
            return error
        if isinstance(error, (InfrastructureError, BadSubmission)):
            raise error
        place = containment.place(error)
        if not subject.calls or place is None or not place[0].is_relative_to(paths.CHECKS):
            raise BrokenCheck(f"{type(error).__name__}: {error}") from error
        answer = kind(subject.calls[-1].value)
        return Mismatch(f"the result is {answer}, which cannot be used as the lesson says")


class Collector:
    """The plugin of pytest that keeps what was collected."""

    def __init__(self) -> None:
        self.items: list[pytest.Function] = []
        self.trouble = ""

    def pytest_configure(self, config: pytest.Config) -> None:
        config.addinivalue_line("markers", MARKER)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            reason = str(report.longrepr).strip().splitlines()[-1]
            self.trouble = self.trouble or f"{report.nodeid} cannot be read: {reason}"

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.items = [item for item in session.items if isinstance(item, pytest.Function)]


MARKER = "task(number, after): the task of the lesson a check belongs to"


def collect(exercise: Exercise) -> tuple[Check, ...]:
    """The checks of an exercise. Raises InfrastructureError where they cannot be read."""
    collector = Collector()
    arguments = [word for name in UNUSED.split() for word in ("-p", f"no:{name}")]
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    os.environ.pop("PYTEST_ADDOPTS", None)
    code = pytest.main([*ISOLATION, *arguments, *map(str, paths.checks(exercise.folder))], plugins=[collector])
    if collector.trouble:
        raise InfrastructureError(collector.trouble)
    if not collector.items:
        raise InfrastructureError(f"the checks of {exercise.folder} could not be read (pytest ended with {code})")
    checks = tuple(Check.of(item) for item in collector.items)
    _demand_points(exercise, {check.id for check in checks})
    return checks


def _demand_points(exercise: Exercise, checks: set[str]) -> None:
    """[points] and the checks must name the same; in a learner's bundle the hidden ones are not there."""
    bundle = len(paths.checks(exercise.folder)) == 1
    unknown = checks - set(exercise.points) if bundle else checks ^ set(exercise.points)
    if unknown:
        names, toml = ", ".join(sorted(unknown)), paths.shown(paths.exercise_toml(exercise.folder))
        raise InfrastructureError(f"{toml}: [points] and the checks do not agree on {names}. See: make verify")


def _light(error: BaseException) -> BaseException:
    """The error without what it would keep alive: frames with all that they computed, and objects of the learner's."""
    error.__traceback__ = error.__context__ = error.__cause__ = None
    if isinstance(error, Mismatch):
        error.got = without_objects(error.got)
    return error
