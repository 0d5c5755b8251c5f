"""Grades submissions of one exercise: a trusted pytest session asks the proxy and keeps the verdicts.

The session collects the checks once and runs them for each submission in turn, so that the cost of
pytest's start is paid once however many there are.
"""

import os
import time
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import pytest
from _pytest.runner import runtestprotocol

from grader import documented, messages, paths, structure
from grader.catalog import Exercise
from grader.compare import Mismatch, kind
from grader.diagnosis import Differs, WrongVersion, explains
from grader.learner import Learner, LearnerError, Local, Remote
from grader.nursery import InfrastructureError, Nursery
from grader.properties import calls_no
from grader.randomness import Random
from grader.report.inert import inert
from grader.results import ERROR, FAILED, NOT_CHECKED, PASSED, CheckResult, ExerciseResult
from grader.submission import Submission
from grader.syntax import forbidden_uses

# Trusted pytest sees our checks alone: no plugins, no configuration, no conftest of anybody's.
ISOLATION = ["-c", os.devnull, "--rootdir", str(paths.CHECKS), "--noconftest", "-p", "no:cacheprovider"]
UNUSED = "terminal debugging doctest junitxml pastebin nose stepwise faulthandler logging setupplan setuponly"
UNUSED += " recwarn unraisableexception threadexception warnings capture legacypath tmpdir monkeypatch"


@dataclass(frozen=True)
class Settings:
    """How to grade. reveal: whether messages may show hidden inputs and expected values."""

    device: str = "cpu"
    seed: int = 0
    timeout: float | None = None  # seconds for one call, instead of the exercise's own
    reveal: bool = True
    diagnose: bool = True


def grade(exercise: Exercise, submission: Submission, nursery: Nursery, settings: Settings) -> ExerciseResult:
    """The verdict on one submission. Raises InfrastructureError where the grader fails."""
    results: list[ExerciseResult] = []
    grade_all(exercise, [submission], nursery, settings, lambda _, result: results.append(result))
    return results[0]


def grade_all(
    exercise: Exercise,
    submissions: Iterable[Submission],
    nursery: Nursery,
    settings: Settings,
    record: Callable[[Submission, ExerciseResult], None],
) -> None:
    """Grade submissions one after the other; `record(submission, result)` is called for each."""
    session = GradingSession(exercise, submissions, nursery, settings, record)
    files = [str(path) for path in paths.checks(exercise.folder)]
    arguments = [word for name in UNUSED.split() for word in ("-p", f"no:{name}")]
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    os.environ.pop("PYTEST_ADDOPTS", None)
    code = pytest.main([*ISOLATION, *arguments, *files], plugins=[session])
    if session.trouble is not None:
        raise session.trouble
    if not session.done:
        raise InfrastructureError(f"the checks of {exercise.folder} could not be read (pytest ended with {code})")


class GradingSession:
    """The pytest plugin: fixtures for the checks, and a loop over submissions around them."""

    def __init__(self, exercise, submissions, nursery, settings, record):
        self.exercise, self.submissions, self.nursery = exercise, submissions, nursery
        self.settings, self.record = settings, record
        limits = exercise.limits
        if settings.timeout is not None:
            limits = replace(limits, call_s=settings.timeout)
        if settings.device != "cpu":
            limits = replace(limits, memory_mb=None, call_s=max(limits.call_s, 30.0))
        self.limits = limits
        self.subject: Learner | None = None
        self.error: BaseException | None = None
        self.trouble: Exception | None = None
        self.done = False
        self._solution: Local | None = None
        self._wrong: list[WrongVersion] | None = None

    # Fixtures that a check may ask for.

    @pytest.fixture
    def learner(self) -> Learner:
        """The proxy of the submission's module."""
        return self.subject

    @pytest.fixture
    def reference(self, request) -> Learner:
        """The same proxy before the solution: the truth on fresh inputs."""
        learner = Learner(self.solution)
        learner._begin(self.subject._seed)
        return learner

    @pytest.fixture
    def rng(self, request) -> Random:
        """Random inputs: other ones in each run, the same ones for the same SEED."""
        return Random(self.settings.seed, check_id(request.node))

    @pytest.fixture
    def documented(self, request) -> dict:
        """The printed numbers of this exercise by id, as `expect` takes them."""
        numbers = documented.numbers(self.exercise.folder)
        name = check_id(request.node)
        return documented.Numbers({number.id: number.data for number in numbers if number.check == name})

    @pytest.fixture
    def no_ready_made(self):
        """`no_ready_made(learner.f, *args)`: f keeps the exercise's [[forbidden]] rules."""

        def check(target, *args, **kwargs) -> None:
            for rule in self.exercise.forbidden:
                if target.name in rule.functions:
                    for use in forbidden_uses(self.subject.source, replace(rule, functions=(target.name,))):
                        raise Mismatch(f"line {use.line} uses {use.name}: {rule.reason}")
                    calls_no(target, rule.operations, *args, **kwargs)

        return check

    # Pytest's hooks.

    def pytest_configure(self, config) -> None:
        config.addinivalue_line("markers", "task(number, after): the task of the lesson a check belongs to")

    def pytest_collectreport(self, report) -> None:
        if report.failed:
            reason = str(report.longrepr).strip().splitlines()[-1]
            self.trouble = InfrastructureError(f"{report.nodeid} cannot be read: {reason}")

    def pytest_runtestloop(self, session) -> bool:
        try:
            if session.testsfailed:
                return True
            self.items = session.items
            unknown = {check_id(item) for item in self.items} ^ set(self.exercise.points)
            if unknown and not paths_are_partial(self.exercise):
                names = ", ".join(sorted(unknown))
                raise InfrastructureError(f"{self.exercise.folder}: [points] and the checks do not agree on {names}")
            for submission in self.submissions:
                self.record(submission, self.examine(submission))
            self.done = True
        except InfrastructureError as error:
            self.trouble = error
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item, call):
        if call.excinfo is not None:
            self.error = call.excinfo.value
        outcome = "passed" if call.excinfo is None else "failed"
        return pytest.TestReport(item.nodeid, item.location, {}, outcome, None, call.when)

    # One submission.

    def examine(self, submission: Submission) -> ExerciseResult:
        started = time.monotonic()
        remote = Remote(self.nursery, submission, self.exercise.slug, self.limits)
        self.subject = Learner(remote, self.settings.device)
        try:
            try:
                remote.load()
            except LearnerError as error:
                lines = inert(messages.learner_error(error, submission.filename, self.settings.reveal))
                return self.unloadable(submission, lines, inert(remote.output), time.monotonic() - started)
            checks, begun = self.verdicts(submission)
        finally:
            remote.close()
        status = PASSED if all(check.outcome == PASSED for check in checks) else FAILED
        return ExerciseResult(
            exercise=self.exercise.folder,
            title=self.exercise.title,
            submission=submission.filename,
            device=self.settings.device,
            seed=self.settings.seed,
            status=status,
            duration_s=round(time.monotonic() - started, 4),
            checks=tuple(checks),
            output=inert(remote.output),
            message="" if begun else messages.not_started(self.exercise.folder),
            started=begun,
            notes=submission.notes,
        )

    def verdicts(self, submission: Submission) -> tuple[list[CheckResult], bool]:
        """The result of every check, in the order of the points, and whether anything was begun."""
        outcomes: dict[str, str] = {}
        failures: dict[str, tuple] = {}
        results: dict[str, CheckResult] = {}
        titles = {check_id(item): title(item) for item in self.items}
        for item in self.items:
            name, (number, after) = check_id(item), task_of(item)
            blocker = next((other for other in after if outcomes.get(other, PASSED) != PASSED), None)
            if blocker is not None:
                outcomes[name], message = NOT_CHECKED, f"not checked: first mend “{titles[blocker]}”"
            else:
                error, calls = self.run(item, self.subject)
                outcomes[name], message = (FAILED, "") if error else (PASSED, "")
                if error:
                    failures[name] = (item, error, calls)
                    last = calls[-1] if calls else None
                    message = inert(messages.failure(error, last, submission.filename, self.settings.reveal))
            points = self.exercise.points[name]
            results[name] = CheckResult(
                id=name,
                title=titles[name],
                outcome=outcomes[name],
                points=points if outcomes[name] == PASSED else 0.0,
                max_points=points,
                message=message,
                hidden=item.path.name != "test_documented.py",
                task=number,
            )
        begun = PASSED in outcomes.values() or not failures or not all(map(is_not_started, failures.values()))
        if begun and self.settings.diagnose and failures:
            for name, sentence in self.diagnoses(failures).items():
                results[name] = replace(results[name], diagnosis=sentence)
        return [results[name] for name in self.exercise.points if name in results], begun

    def run(self, item, subject: Learner) -> tuple[BaseException | None, list]:
        """Run one check against one subject. Gives its error (None: passed) and the calls made."""
        self.subject, self.error = subject, None
        subject._begin(zlib.crc32(f"{self.settings.seed} {check_id(item)}".encode()))
        item._initrequest()
        runtestprotocol(item, log=False, nextitem=None)
        return self.judge(self.error, subject), list(subject.calls)

    def judge(self, error: BaseException | None, subject: Learner) -> BaseException | None:
        """A failed check's error. A check that broke on the learner's answer says what the answer was.

        Raises InfrastructureError where the grader itself broke.
        """
        if error is None or isinstance(error, (AssertionError, LearnerError, Differs)):
            return error
        if isinstance(error, InfrastructureError):
            raise error
        place = _own_place(error)
        if not subject.calls or not place.startswith(str(paths.CHECKS)):
            raise InfrastructureError(f"{type(error).__name__} at {place}: {error}") from error
        answer = kind(subject.calls[-1].value)
        return Mismatch(f"the result is {answer}, which cannot be used as the lesson says")

    def diagnoses(self, failures: dict[str, tuple]) -> dict[str, str]:
        """A sentence for each failed check that can be explained."""
        matches: dict[str, list[WrongVersion]] = {}
        for name, (item, error, calls) in failures.items():
            if is_not_started((item, error, calls)):
                continue
            known = [wrong for found in matches.values() for wrong in found]
            ordered = list(dict.fromkeys([w.name for w in known] + [w.name for w in self.wrong_versions]))
            by_name = {wrong.name: wrong for wrong in self.wrong_versions}

            def run(learner, item=item):
                return self.run(item, learner)[0]

            matches[name] = [
                by_name[w] for w in ordered if explains(by_name[w], calls, error, run, self.settings.device)
            ]
        return {
            name: sentence
            for name, (_, error, _) in failures.items()
            if (sentence := self.sentence(matches.get(name, []), matches, error))
        }

    def sentence(self, found: list[WrongVersion], matches: dict, error: BaseException) -> str | None:
        """The explanation of one failed check: the wrong version that explains most, or structure."""
        if not found:
            return structure.describe(error)
        score = {wrong.name: sum(wrong in others for others in matches.values()) for wrong in found}
        best = [wrong for wrong in found if score[wrong.name] == max(score.values())]
        if len(best) > 1:
            best = self.simplest(best, set(matches))
        return "  or: ".join(wrong.sentence for wrong in best[:2])

    def simplest(self, candidates: list[WrongVersion], failed: set[str]) -> list[WrongVersion]:
        """Those that break no check that the learner's code passed, or all where that leaves none."""
        fitting = []
        for wrong in candidates:
            broken = [
                item
                for item in self.items
                if check_id(item) not in failed and self.run(item, Learner(wrong.connection))[0]
            ]
            if not broken:
                fitting.append(wrong)
        return fitting or candidates

    def unloadable(self, submission: Submission, message: str, output: str, seconds: float) -> ExerciseResult:
        """The verdict on a file that does not even load: no check was tried."""
        checks = [
            CheckResult(
                id=check_id(item),
                title=title(item),
                outcome=NOT_CHECKED,
                points=0.0,
                max_points=self.exercise.points[check_id(item)],
                message="not checked: the file could not be loaded",
                hidden=item.path.name != "test_documented.py",
                task=task_of(item)[0],
            )
            for item in self.items
        ]
        return unreadable(self.exercise, submission.filename, message, self.settings, tuple(checks), output, seconds)

    @property
    def solution(self) -> Local:
        if self._solution is None:
            self._solution = local(paths.solution(self.exercise.folder), self.exercise.slug)
        return self._solution

    @property
    def wrong_versions(self) -> list[WrongVersion]:
        if self._wrong is None:
            self._wrong = []
            for path in paths.wrong_versions(self.exercise.folder):
                connection = local(path, self.exercise.slug)
                doc = (connection.executor.module.__doc__ or path.stem).strip()
                self._wrong.append(WrongVersion(path.stem, doc.splitlines()[0], connection))
        return self._wrong


def unreadable(
    exercise: Exercise,
    filename: str,
    message: str,
    settings: Settings,
    checks: tuple[CheckResult, ...] = (),
    output: str = "",
    seconds: float = 0.0,
) -> ExerciseResult:
    """The verdict "error": nothing of the submission could be run."""
    if not checks:
        checks = tuple(
            CheckResult(name, name.replace("_", " "), NOT_CHECKED, 0.0, points, "not checked: the file cannot be read")
            for name, points in exercise.points.items()
        )
    return ExerciseResult(
        exercise=exercise.folder,
        title=exercise.title,
        submission=filename,
        device=settings.device,
        seed=settings.seed,
        status=ERROR,
        duration_s=round(seconds, 4),
        checks=checks,
        output=output,
        message=message,
    )


def local(path, name: str) -> Local:
    """A trusted source of ours, loaded in this process."""
    return Local(path.read_text("utf-8"), path.name, name)


def check_id(item) -> str:
    return item.name.removeprefix("test_")


def title(item) -> str:
    """The line that the learner reads: the first of the check's docstring."""
    return (item.function.__doc__ or check_id(item).replace("_", " ")).strip().splitlines()[0]


def task_of(item) -> tuple[int | None, tuple[str, ...]]:
    mark = item.get_closest_marker("task")
    return (mark.args[0], mark.kwargs["after"]) if mark else (None, ())


def is_not_started(failure: tuple) -> bool:
    return isinstance(failure[1], LearnerError) and failure[1].is_not_started


def _own_place(error: BaseException) -> str:
    """Where in our own files an exception was raised, or passed last: "path:line"."""
    place, trace = "", error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename.startswith(str(paths.GRADER)):
            place = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place


def paths_are_partial(exercise: Exercise) -> bool:
    """Whether this is a learner's bundle, where the hidden checks are not there."""
    return len(paths.checks(exercise.folder)) == 1
