"""What the tests of a verdict share: judges that grade one file after the other."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from extras import skip_unless_here

from grader import catalog
from grader.judge.grading import Grading
from grader.records.results import ExerciseResult, Settings
from grader.records.submission import Submission, Unreadable
from grader.sandbox.forkserver import ForkServer


@pytest.fixture(scope="module")
def judge_of(fork_server: ForkServer) -> Iterator[Callable[..., Grading]]:
    """`judge_of("03", seed=5)` is the judge of an exercise, one for all tests of a file that ask for the same.

    It collects the checks once and keeps what known mistakes answer, as it does for a class.
    """
    judges: dict[object, Grading] = {}
    with contextlib.ExitStack() as closing:

        def judge(exercise: str | catalog.Exercise, **settings: Any) -> Grading:
            """The judge, who is made for the first file."""
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
        """Grade one file."""
        file = Submission(handed_in, name) if isinstance(handed_in, str) else handed_in
        return judge_of(exercise, seed=seed, **settings).result(file)

    return grade
