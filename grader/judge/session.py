"""Runs checks against a subject, with the fixtures that they ask for, for one exercise.

A subject is a `Learner`: a submission in its worker, or a known mistake in this process.
"""

from __future__ import annotations

import sys
import traceback
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from grader.catalog import Exercise, documented, paths, project
from grader.catalog.errors import AuthorError, BadSubmission, InfrastructureError
from grader.judge import measuring
from grader.judge.collection import Check, collect
from grader.judge.compare import Mismatch
from grader.judge.inputs import Random
from grader.judge.promises import computes_itself
from grader.judge.proxy import Learner, StoodIn, without_objects
from grader.judge.words import kind
from grader.records.forbidden import forbidden_uses
from grader.records.seeds import part
from grader.records.source import SourceWords
from grader.records.syntax import place
from grader.sandbox.call_results import Call, Differs, LearnerError
from grader.sandbox.local import Local, Replayer

AUTHORS = (NameError, ImportError, SyntaxError)  # no answer of a learner's makes a check raise these


class BrokenCheck(AuthorError):
    """A check itself broke. file, line: of the check; `__cause__`: what it raised."""

    def __init__(self, error: BaseException):
        frames = _frames(error)
        self.file, self.line = next((frame for frame in reversed(frames) if _is_of_checks(frame[0])), frames[-1])
        self.reason = f"the check breaks with {type(error).__name__}: {error}"
        super().__init__(f"{paths.shown(self.file)}:{self.line}: {self.reason}")


class Session:
    """The checks of an exercise with one seed. Use it as a context manager: they are collected on entering.

    Raises InfrastructureError where the checks cannot be read, or do not agree with the exercise's points, and
    NotForThisMachine where a package that the exercise needs is not here.
    """

    def __init__(self, exercise: Exercise, seed: int):
        self.exercise, self.seed = exercise, seed
        self.checks: tuple[Check, ...] = ()
        self.subject: Learner | None = None
        self.numbers_read: set[str] = set()  # ids of the documented numbers that checks looked at
        self._solution: Replayer | None = None
        self._stand_in: Learner | None = None
        self._breaking: dict[str, bool] = {}  # by check: whether it breaks with the solution

    def __enter__(self) -> Session:
        if sys.flags.optimize:
            raise InfrastructureError("Python's option -O leaves out the asserts of the checks. Start it without.")
        project.demand_needs(self.exercise.limits.needs)
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
            check.function(**self._fixtures(check))
            error: BaseException | None = None
        except StoodIn:  # what comes then needs both, and is not tried
            error = None
        except (Exception, pytest.fail.Exception, pytest.skip.Exception) as raised:
            error = self._judge(raised, check, subject)
        self.subject = None
        return error and _light(error), list(subject.calls)

    def _fixtures(self, check: Check) -> dict[str, object]:
        """What the check takes, by name, for the subject."""
        return {name: FIXTURES[name](self, check.id) for name in check.fixtures}

    def begin(self, check: Check, subject: Learner) -> None:
        """Give the fixtures this check and this subject from now on."""
        self.subject = subject
        subject._begin(part(self.seed, check.id))
        for stand_in in set(subject.stand_ins.values()):
            stand_in._begin(subject._seed)
            stand_in.calls = subject.calls  # the number of calls so far decides the seed of the next one

    def reference(self, check: str) -> Learner:
        """The proxy before the solution, for one check."""
        if self._solution is None:
            self._solution = Replayer.load(paths.solution(self.exercise.folder), self.exercise.slug)
        self._solution.begin(check)
        learner = Learner(self._solution)
        assert self.subject is not None, "a check runs on a subject"
        learner._begin(self.subject._seed)
        return learner

    def stand_in(self) -> Learner:
        """The proxy before the solution whose functions stand in for wrong ones of the learner's."""
        if self._stand_in is None:
            self._stand_in = Learner(Local.load(paths.solution(self.exercise.folder), self.exercise.slug))
        return self._stand_in

    def forget(self) -> None:
        """Keep nothing of the subjects so far."""
        self.subject = self._solution = self._stand_in = None

    def _judge(self, error: BaseException, check: Check, subject: Learner) -> BaseException:
        """The learner's error as it is, or a mismatch for an answer that the check cannot compute with.

        Raises BrokenCheck for an error of the check's own: a kind that no answer causes, or one that the solution's
        answers cause as well.
        """
        if isinstance(error, (AssertionError, LearnerError, Differs)):
            return error
        if isinstance(error, (InfrastructureError, BadSubmission)):
            raise error
        ours = [file for file, _ in _frames(error) if _is_of_checks(file) or file.is_relative_to(paths.GRADER)]
        in_the_check = _is_of_checks(ours[-1])
        if not subject.calls or not in_the_check or _is_authors(error) or self._breaks_with_solution(check):
            raise BrokenCheck(error) from error
        answer = kind(subject.calls[-1].value)
        return Mismatch(f"the result is {answer}, which cannot be used as the lesson says")

    def _breaks_with_solution(self, check: Check) -> bool:
        """True if the check raises an error of its own on the solution's answers. A bundle has no solution."""
        path = paths.solution(self.exercise.folder)
        if check.id not in self._breaking and path.exists():
            self.begin(check, Learner(Replayer.load(path, self.exercise.slug)))
            try:
                check.function(**self._fixtures(check))
                self._breaking[check.id] = False
            except Exception as error:  # verify reports a solution that fails without breaking the check
                self._breaking[check.id] = not isinstance(error, (AssertionError, LearnerError, Differs))
        return self._breaking.get(check.id, False)


def learner(session: Session, check: str) -> Learner:
    """The proxy of the submission's module."""
    assert session.subject is not None, "a check runs on a subject"
    return session.subject


def reference(session: Session, check: str) -> Learner:
    """The same proxy before the solution: the truth on fresh inputs."""
    return session.reference(check)


def rng(session: Session, check: str) -> Random:
    """Random inputs: other ones in each run, the same ones for the same SEED."""
    return Random(session.seed, check)


def documented_numbers(session: Session, check: str) -> documented.Numbers:
    """The printed numbers that this check grades, by id, as `expect` takes them."""
    return documented.of_check(session.exercise.folder, check, session.numbers_read)


def no_ready_made(session: Session, check: str) -> Callable[..., None]:
    """`no_ready_made(learner.f, *args)`: f keeps the exercise's [[forbidden]] rules.

    Without arguments, as of a class that is not called itself, the names in its source decide.
    """

    def demand(target: Any, *args: Any, **kwargs: Any) -> None:
        for rule in session.exercise.forbidden:
            if target.name not in rule.functions or target._learner is not session.subject:  # one that stands in
                continue
            if args or kwargs:
                computes_itself(target, reference(session, check), rule, *args, **kwargs)
            else:
                source = learner(session, check).source
                for line, name in forbidden_uses(source, rule.names, [*SourceWords(source).uses(target.name)]):
                    raise Mismatch(f"{place(source, line)} uses {name}: {rule.reason}")

    return demand


FIXTURES: dict[str, Callable[[Session, str], object]] = {
    "learner": learner,
    "reference": reference,
    "rng": rng,
    "documented": documented_numbers,
    "no_ready_made": no_ready_made,
    "within_memory": lambda *_: measuring.within_memory,
    "steady_memory": lambda *_: measuring.steady_memory,
    "compiles": lambda *_: measuring.compiles,
}


def _frames(error: BaseException) -> list[tuple[Path, int]]:
    """The files and lines that an exception passed, the innermost last."""
    return [(Path(frame.filename), frame.lineno or 0) for frame in traceback.extract_tb(error.__traceback__)]


def _is_of_checks(file: Path) -> bool:
    return file.is_relative_to(paths.CHECKS)


def _is_authors(error: BaseException) -> bool:
    """True for an error that no answer causes: a name that is missing in the check, or in a module that it uses."""
    is_missing = isinstance(error, AttributeError) and isinstance(error.obj, (types.ModuleType, type))
    return isinstance(error, AUTHORS) or is_missing


def _light(error: BaseException) -> BaseException:
    """The error without what it would keep alive: frames with all that they computed, and objects of the learner's."""
    error.__traceback__ = error.__context__ = error.__cause__ = None
    if isinstance(error, Mismatch):
        error.got = without_objects(error.got)
    return error
