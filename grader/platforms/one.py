"""Grades the folder of one student, as a platform lays it out."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grader import runner
from grader.catalog import Exercise
from grader.classroom.find import find_one
from grader.classroom.records import HandIn, Misplaced
from grader.nursery import Nursery
from grader.results import ExerciseResult
from grader.submission import BadSubmission, NoSuchFile


@dataclass(frozen=True)
class Graded:
    """One student's results, in the order of the exercises; None where nothing was handed in."""

    results: tuple[tuple[Exercise, ExerciseResult | None], ...]
    misplaced: tuple[Misplaced, ...]
    seconds: float


def grade(folder: Path, exercises: Sequence[Exercise], seed: int, accept_tier: str | None = None) -> Graded:
    """Grade what lies in the folder, behind a sandbox that was tried out.

    Raises InfrastructureError where there is none, WrongUse for a folder that cannot be read.
    """
    started = time.monotonic()
    found = find_one(folder, exercises)
    handins = {handin.exercise: handin for handin in found.handins}
    settings = runner.Settings(seed=seed, reveal=False)
    with Nursery() as nursery:
        sandbox = nursery.demand(accept_tier)
        results = []
        for exercise in exercises:
            result = None
            if exercise.folder in handins:
                result = replace(_grade(exercise, handins[exercise.folder], folder, nursery, settings), sandbox=sandbox)
            results.append((exercise, result))
    return Graded(tuple(results), found.misplaced, round(time.monotonic() - started, 2))


def _grade(exercise: Exercise, handin: HandIn, folder: Path, nursery: Nursery, settings) -> ExerciseResult:
    shown = handin.below(folder)
    try:
        submission = replace(handin.read(), filename=shown)
    except (BadSubmission, NoSuchFile) as error:
        return runner.unreadable(exercise, shown, str(error), settings)
    return runner.grade(exercise, submission, nursery, settings)
