"""The pytest session: trusted checks, collected once, run against one subject after the other.

A subject is a `Learner`: a submission in its worker, or a known wrong version in this process.
"""

import inspect
import os
import zlib
from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from _pytest.runner import runtestprotocol

from grader import documented, paths
from grader.catalog import Exercise
from grader.compare import Mismatch
from grader.connection import LearnerError, Remembering, Stop
from grader.learner import Learner
from grader.nursery import InfrastructureError
from grader.properties import calls_no
from grader.randomness import Random
from grader.syntax import forbidden_uses
from grader.words import kind

# Trusted pytest sees our checks alone: no plugins, no configuration, no conftest of anybody's.
ISOLATION = ["-c", os.devnull, "--rootdir", str(paths.CHECKS), "--noconftest"]
ISOLATION += ["-p", "no:cacheprovider", "--import-mode=importlib", "--assert=plain"]
UNUSED = "terminal debugging doctest junitxml pastebin nose stepwise faulthandler logging setupplan setuponly"
UNUSED += " recwarn unraisableexception threadexception warnings capture legacypath tmpdir monkeypatch"


def run_session(exercise: Exercise, seed: int, work: Callable[["Session"], None]) -> None:
    """Collect the checks of an exercise and call `work(session)` once they are ready.

    Raises InfrastructureError where the checks cannot be read or break.
    """
    torch.set_num_threads(1)  # tiny tensors; threads would only wait for each other
    session = Session(exercise, seed, work)
    arguments = [word for name in UNUSED.split() for word in ("-p", f"no:{name}")]
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    os.environ.pop("PYTEST_ADDOPTS", None)
    code = pytest.main([*ISOLATION, *arguments, *map(str, paths.checks(exercise.folder))], plugins=[session])
    if session.trouble is not None:
        raise session.trouble
    if not session.done:
        raise InfrastructureError(f"the checks of {exercise.folder} could not be read (pytest ended with {code})")


class Session:
    """The pytest plugin: the fixtures that checks ask for, and `run` for one check."""

    def __init__(self, exercise: Exercise, seed: int, work: Callable[["Session"], None]):
        self.exercise, self.seed, self.work = exercise, seed, work
        self.subject: Learner | None = None
        self.error: BaseException | None = None
        self.trouble: BaseException | None = None
        self.done = False
        self._wanted: dict[str, tuple[str, ...]] = {}  # what each check asks for
        self._solution: Remembering | None = None

    # Fixtures: what a check may ask for.

    @pytest.fixture
    def learner(self) -> Learner:
        """The proxy of the submission's module."""
        return self.subject

    @pytest.fixture
    def reference(self, request) -> Learner:
        """The same proxy before the solution: the truth on fresh inputs."""
        return self._reference(check_id(request.node))

    @pytest.fixture
    def rng(self, request) -> Random:
        """Random inputs: other ones in each run, the same ones for the same SEED."""
        return Random(self.seed, check_id(request.node))

    @pytest.fixture
    def documented(self, request) -> documented.Numbers:
        """The printed numbers that this check grades, by id, as `expect` takes them."""
        return documented.of_check(self.exercise.folder, check_id(request.node))

    @pytest.fixture
    def no_ready_made(self) -> Callable:
        """`no_ready_made(learner.f, *args)`: f keeps the exercise's [[forbidden]] rules."""
        return self._no_ready_made

    def _given(self, item) -> dict | None:
        """The same by name, without pytest; None where a check asks for more."""
        name = check_id(item)
        makers = {
            "learner": lambda: self.subject,
            "reference": lambda: self._reference(name),
            "rng": lambda: Random(self.seed, name),
            "documented": lambda: documented.of_check(self.exercise.folder, name),
            "no_ready_made": lambda: self._no_ready_made,
        }
        wanted = self.wanted(item)
        return {argument: makers[argument]() for argument in wanted} if makers.keys() >= set(wanted) else None

    def _reference(self, check: str) -> Learner:
        if self._solution is None:
            self._solution = Remembering.load(paths.solution(self.exercise.folder), self.exercise.slug)
        self._solution.begin(check)
        learner = Learner(self._solution)
        learner._begin(self.subject._seed)
        return learner

    def _no_ready_made(self, target, *args, **kwargs) -> None:
        for rule in self.exercise.forbidden:
            if target.name in rule.functions:
                for use in forbidden_uses(self.subject.source, replace(rule, functions=(target.name,))):
                    raise Mismatch(f"line {use.line} uses {use.name}: {rule.reason}")
                calls_no(target, rule.operations, *args, **kwargs)

    # Pytest's hooks.

    def pytest_configure(self, config) -> None:
        config.addinivalue_line("markers", "task(number, after): the task of the lesson a check belongs to")

    def pytest_collectreport(self, report) -> None:
        if report.failed:
            reason = str(report.longrepr).strip().splitlines()[-1]
            self.trouble = InfrastructureError(f"{report.nodeid} cannot be read: {reason}")

    def pytest_runtestloop(self, session) -> bool:
        if session.testsfailed:
            return True
        self.items = session.items
        try:
            self._agree()
            self.work(self)
            self.done = True
        except BaseException as error:  # pytest would print it and go on
            self.trouble = error
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item, call):
        if call.excinfo is not None:
            self.error = call.excinfo.value
        outcome = "passed" if call.excinfo is None else "failed"
        return pytest.TestReport(item.nodeid, item.location, {}, outcome, None, call.when)

    # For those who run checks.

    def run(self, item, subject: Learner) -> tuple[BaseException | None, list]:
        """Run one check against one subject. Gives its error (None: passed) and the calls made.

        A check that asks for our fixtures alone is called as it is: pytest's own way takes a millisecond.
        """
        self.subject, self.error = subject, None
        subject._begin(zlib.crc32(f"{self.seed} {check_id(item)}".encode()))
        given = self._given(item)
        if given is None:
            item._initrequest()
            runtestprotocol(item, log=False, nextitem=None)
        else:
            try:
                item.function(**given)
            except (Exception, pytest.fail.Exception, pytest.skip.Exception) as error:
                self.error = error
        return self._judge(self.error, subject), list(subject.calls)

    def wanted(self, item) -> tuple[str, ...]:
        """The names of the fixtures that a check asks for."""
        name = check_id(item)
        if name not in self._wanted:
            self._wanted[name] = tuple(inspect.signature(item.function).parameters)
        return self._wanted[name]

    def _judge(self, error: BaseException | None, subject: Learner) -> BaseException | None:
        """A check that broke on the learner's answer says what the answer was.

        Raises InfrastructureError where the grader itself broke.
        """
        if error is None or isinstance(error, (AssertionError, LearnerError, Stop)):
            return error
        if isinstance(error, (InfrastructureError, KeyboardInterrupt)):
            raise error
        place = _own_place(error)
        if not subject.calls or not place.startswith(str(paths.CHECKS)):
            raise InfrastructureError(f"{type(error).__name__} at {place}: {error}") from error
        answer = kind(subject.calls[-1].value)
        return Mismatch(f"the result is {answer}, which cannot be used as the lesson says")

    def _agree(self) -> None:
        """[points] and the checks name the same; in a learner's bundle the hidden ones are not there."""
        found = {check_id(item) for item in self.items}
        bundle = len(paths.checks(self.exercise.folder)) == 1
        unknown = found - set(self.exercise.points) if bundle else found ^ set(self.exercise.points)
        if unknown:
            names = ", ".join(sorted(unknown))
            raise InfrastructureError(f"{self.exercise.folder}: [points] and the checks do not agree on {names}")


def check_id(item) -> str:
    return item.name.removeprefix("test_")


def title(item) -> str:
    """The line that the learner reads: the first of the check's docstring."""
    return (item.function.__doc__ or check_id(item).replace("_", " ")).strip().splitlines()[0]


def task_of(item) -> tuple[int | None, tuple[str, ...]]:
    """The lesson's task that a check belongs to, and the checks that it builds on."""
    mark = item.get_closest_marker("task")
    return (mark.args[0], mark.kwargs["after"]) if mark else (None, ())


def is_hidden(item) -> bool:
    return item.path.name != paths.DOCUMENTED_CHECKS


def _own_place(error: BaseException) -> str:
    """Where in our own files an exception was raised, or passed last: "path:line"."""
    place, trace = "", error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename.startswith(str(paths.GRADER)):
            place = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place
