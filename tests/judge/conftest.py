"""What the tests of a verdict share: judges that grade one file after the other."""

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from extras import skip_unless_here

from grader import catalog
from grader.catalog.exercise import Limits
from grader.judge.grading import Grading
from grader.judge.proxy import Learner
from grader.records.results import ExerciseResult, Settings
from grader.records.submission import Submission, Unreadable
from grader.sandbox.forkserver import ForkServer
from grader.sandbox.local import Local
from grader.sandbox.remote import Remote


@pytest.fixture(scope="module")
def judge_of(fork_server: ForkServer) -> Iterator[Callable[..., Grading]]:
    """`judge_of("03", seed=5)` is the judge of an exercise, one for all tests of a file that ask for the same.

    It collects the checks once and keeps what known mistakes answer, as it does for a class.
    """
    judges: dict[object, Grading] = {}
    with contextlib.ExitStack() as closing:

        def judge(exercise: str | catalog.Exercise, **settings: Any) -> Grading:
            chosen = catalog.find(exercise) if isinstance(exercise, str) else exercise
            skip_unless_here(chosen)
            key = chosen.folder, repr(chosen.limits), Settings(**settings)
            if key not in judges:
                judges[key] = closing.enter_context(Grading(chosen, fork_server, Settings(**settings)))
            return judges[key]

        yield judge


@pytest.fixture
def judged(judge_of: Callable[..., Grading]) -> Callable[..., ExerciseResult]:
    """`judged("03", source)` is the verdict on a file, by the shared judge of its exercise."""

    def grade(
        exercise: str | catalog.Exercise,
        handed_in: str | Submission | Unreadable,
        name: str = "submission.py",
        seed: int = 5,
        **settings: Any,
    ) -> ExerciseResult:
        file = Submission(handed_in, name) if isinstance(handed_in, str) else handed_in
        return judge_of(exercise, seed=seed, **settings).result(file)

    return grade


@pytest.fixture
def graded(judged: Callable[..., ExerciseResult]) -> Callable[..., ExerciseResult]:
    """`graded("03", source)`: the same without a diagnosis, unless it is asked for."""
    return functools.partial(judged, diagnose=False)


@pytest.fixture
def remote(fork_server: ForkServer) -> Iterator[Callable[..., Learner]]:
    """`remote(source)`: the names of a file, as a worker of its own has them."""
    with contextlib.ExitStack() as closing:

        def load(source: str, **limits: Any) -> Learner:
            connection = Remote(fork_server, Submission(source, "file.py"), "file", Limits(**limits))
            closing.callback(connection.close)
            return Learner(connection)

        yield load


@pytest.fixture(params=["local", "remote"])
def either(request: pytest.FixtureRequest) -> Callable[[str], Learner]:
    """`either(source)`: the same, and once more as the grader's own process has them."""
    is_remote = request.param == "remote"
    return request.getfixturevalue("remote") if is_remote else lambda source: Learner(Local(source, "file.py", "file"))
