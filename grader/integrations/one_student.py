"""Grades the folder of one student, in the layout of a platform."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grader.catalog import Exercise
from grader.catalog.errors import NoSuchFile
from grader.classroom.intake.finder import find_one
from grader.classroom.marks import HandIn, Mark, listed
from grader.records import containment
from grader.records.results import NOT_GRADED, ExerciseResult, Settings, ungraded, unreadable
from grader.records.sanitize import label
from grader.records.seeds import secret_seed
from grader.records.submission import Submission, attempt
from grader.sandbox.forkserver import ForkServer

SETTINGS = Settings(reveal=False)
MOST_NAMED = 5  # files


@dataclass(frozen=True)
class Graded:
    """One student's results in the order of the exercises; None where nothing was handed in. seconds: their time."""

    results: tuple[tuple[Exercise, ExerciseResult | None], ...]
    misplaced: Sequence[Mark] = ()
    seconds: float = 0.0

    @property
    def complete(self) -> bool:
        """Whether all that was handed in has a verdict."""
        return all(result is None or result.status != NOT_GRADED for _, result in self.results)


def nothing(exercises: Sequence[Exercise]) -> Graded:
    """The results before anything is graded: no exercise has a verdict."""
    reason = "the autograder ended before it came to this"
    return Graded(tuple((exercise, ungraded(exercise, exercise.folder, reason, SETTINGS)) for exercise in exercises))


def expected(exercise: Exercise, misplaced: Sequence[Mark]) -> str:
    """The message for a student without a file for this exercise: the expected names, and the names that were found."""
    names = f"expected {exercise.slug}.py or {exercise.slug}.ipynb"
    if not misplaced:
        return f"nothing was handed in: {names}"
    found = label(listed([entry.file for entry in misplaced], MOST_NAMED))
    return f"{names}, found {found}. If one of these holds your answer, rename it and hand it in again."


def grade(
    folder: Path,
    exercises: Sequence[Exercise],
    accept_tier: str | None = None,
    so_far: Callable[[Graded], object] = lambda graded: None,
) -> Graded:
    """Grade the submissions in the folder, in a sandbox that was tested, with a new secret.

    so_far: is called with all results after each exercise. Raises InfrastructureError where there is no sandbox for
    what was handed in, and WrongUse for a folder that cannot be read.
    """
    started = time.monotonic()
    submissions = find_one(folder, exercises)
    by_exercise = {handin.exercise: handin for handin in submissions.handins}
    settings = replace(SETTINGS, seed=secret_seed())
    results = [
        (exercise, result if exercise.folder in by_exercise else None)
        for exercise, result in nothing(exercises).results
    ]

    def graded() -> Graded:
        """The results up to now."""
        return Graded(tuple(results), submissions.misplaced, round(time.monotonic() - started, 2))

    if not by_exercise:
        return graded()  # without torch and a sandbox, which take seconds to start
    with ForkServer() as fork_server:
        sandbox = fork_server.demand(accept_tier)
        for place, exercise in enumerate(exercises):
            if exercise.folder in by_exercise:
                result = _grade(exercise, by_exercise[exercise.folder], folder, fork_server, settings)
                if result.status == NOT_GRADED:
                    containment.report(f"{exercise.folder}: {result.message}")
                results[place] = (exercise, replace(result, sandbox=sandbox))
                so_far(graded())
    return graded()


def _grade(
    exercise: Exercise, handin: HandIn, folder: Path, fork_server: ForkServer, settings: Settings
) -> ExerciseResult:
    """The verdict on one hand-in."""
    from grader.judge import grading  # imports torch, which the fork server does meanwhile

    name = handin.below(folder)

    def read() -> Submission:
        """The submission under the name that messages show."""
        return replace(handin.read(), filename=name)

    try:
        return grading.result(exercise, attempt(read, name), fork_server, settings)
    except NoSuchFile as error:
        return unreadable(exercise, name, str(error), settings)
