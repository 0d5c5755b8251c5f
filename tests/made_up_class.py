"""Results of a made-up class: real exercises and checks, that pass or fail as a test wants them to."""

from typing import Any

from grader import catalog
from grader.records.results import FAILED, PASSED, CheckResult, ExerciseResult


def folders(count: int = 13) -> tuple[str, ...]:
    return tuple(exercise.folder for exercise in catalog.for_class()[:count])


def result_of(folder: str, passed: float = 1.0, **changes: Any) -> ExerciseResult:
    """A result in which the first checks pass and the others fail. passed: the share that pass; changes: of fields."""
    exercise = catalog.find(folder)
    border = round(passed * len(exercise.points))
    checks = tuple(
        CheckResult(name, f"{name}.", PASSED, most, most)
        if number < border
        else CheckResult(name, f"{name}.", FAILED, 0.0, most, "the numbers differ")
        for number, (name, most) in enumerate(exercise.points.items())
    )
    facts = {
        "exercise": folder,
        "title": exercise.title,
        "submission": f"{exercise.slug}.py",
        "device": "cpu",
        "seed": 7,
        "status": PASSED if passed == 1 else FAILED,
        "duration_s": 0.5,
        "checks": checks,
    }
    return ExerciseResult(**{**facts, **changes})
