"""The checks of one exercise, run against one subject after the other.

A subject is a `Learner`: a submission in its worker, or a known mistake in this process.
"""

import sys

import pytest
import torch

from grader.catalog import Exercise, paths
from grader.catalog.errors import BadSubmission, InfrastructureError
from grader.judge.collection import Check, collect
from grader.judge.fixtures import FIXTURES
from grader.judge.mismatch import Mismatch
from grader.judge.proxy import Learner, StoodIn, without_objects
from grader.judge.words import kind
from grader.records import containment
from grader.records.seeds import part
from grader.sandbox.call_results import Call, LearnerError
from grader.sandbox.local import Local
from grader.sandbox.recorder import Replayer
from grader.sandbox.transcript import Stop


class BrokenCheck(Exception):
    """A check itself broke: its `__cause__` is what it raised."""


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
        self._stand_in: Learner | None = None

    def __enter__(self) -> "Session":
        if sys.flags.optimize:
            raise InfrastructureError("Python's option -O leaves out the asserts of the checks. Start it without.")
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
        except StoodIn:  # what comes then needs both, and is not tried
            error = None
        except (Exception, pytest.fail.Exception, pytest.skip.Exception) as raised:
            error = self._judge(raised, subject)
        self.subject = None
        return error and _light(error), list(subject.calls)

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

    def _judge(self, error: BaseException, subject: Learner) -> BaseException:
        """A check that broke on the learner's answer says what the answer was."""
        if isinstance(error, (AssertionError, LearnerError, Stop)):
            return error
        if isinstance(error, (InfrastructureError, BadSubmission)):
            raise error
        location = containment.place(error)
        if not subject.calls or location is None or not location[0].is_relative_to(paths.CHECKS):
            raise BrokenCheck(f"{type(error).__name__}: {error}") from error
        answer = kind(subject.calls[-1].value)
        return Mismatch(f"the result is {answer}, which cannot be used as the lesson says")


def _light(error: BaseException) -> BaseException:
    """The error without what it would keep alive: frames with all that they computed, and objects of the learner's."""
    error.__traceback__ = error.__context__ = error.__cause__ = None
    if isinstance(error, Mismatch):
        error.got = without_objects(error.got)
    return error
