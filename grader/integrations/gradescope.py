"""Gradescope: the results.json that it shows, and the zip from which it builds its autograder.

The fields are those of https://gradescope-autograders.readthedocs.io/en/latest/specs/
Due dates, late penalties and the attempt that counts are settings of the assignment there.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from grader.catalog import Exercise, paths
from grader.classroom.marks import Mark
from grader.integrations import bundle
from grader.integrations.one_student import Graded, expected
from grader.records.causes import causes
from grader.records.results import NOT_GRADED, PASSED, ExerciseResult
from grader.reports.terminal import explain

SCRIPTS = ("setup.sh", "run_autograder")
BLAMELESS = "That is not your code's fault. Tell your instructor."


def results(graded: Graded, hidden: str = "visible") -> dict[str, Any]:
    """The content of results.json. hidden: who sees the hidden checks; nobody sees their inputs."""
    tests = [test for exercise, result in graded.results for test in _tests(exercise, result, hidden, graded.misplaced)]
    messages = [f"{result.exercise}: {_message(result)}" for _, result in graded.results if result and result.message]
    misplaced = [f"not graded: {entry.file}: {entry.note}" for entry in graded.misplaced]
    return {
        "execution_time": graded.seconds,
        "output": "\n".join([*messages, *misplaced]),
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": tests,
    }


def failure(reason: str) -> dict[str, Any]:
    """The content of results.json where the autograder could not do its work."""
    return {
        "score": 0,
        "output": f"This submission was not graded: {reason} {BLAMELESS}",
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
    }


def package(exercises: Sequence[Exercise], hidden: str, accept_tier: str | None) -> bytes:
    """The autograder zip."""
    arguments = [",".join(exercise.folder for exercise in exercises), "--hidden", hidden]
    arguments += ["--accept-tier", accept_tier] if accept_tier else []
    content = {f"kata/{name}": data for name, data in bundle.whole()}
    content |= {name: paths.module(f"integrations/templates/{name}").read_bytes() for name in SCRIPTS}
    content["options"] = ("\n".join(arguments) + "\n").encode()
    return bundle.zip_files(content, programs=SCRIPTS)


def _tests(
    exercise: Exercise, result: ExerciseResult | None, hidden: str, misplaced: Sequence[Mark]
) -> Iterator[dict[str, Any]]:
    """The tests of one exercise: one for each check, or one for all where there is no verdict."""
    if result is None or result.status == NOT_GRADED:
        message = expected(exercise, misplaced) if result is None else _message(result)
        name = f"{exercise.folder[:2]} {exercise.title}"
        yield _test(name, exercise.folder[:2], 0.0, exercise.max_points, message, "visible")
        return
    found = causes(result)
    for nth, check in enumerate(result.checks, 1):
        name = f"{exercise.folder[:2]} {exercise.title}: {check.title}"
        visibility = hidden if check.hidden else "visible"
        place = f"{exercise.folder[:2]}.{nth}"
        yield _test(
            name, place, check.points, check.max_points, explain(check, found), visibility, check.outcome == PASSED
        )


def _message(result: ExerciseResult) -> str:
    """The message about the whole file. Errors of the grader are not shown to students."""
    return f"not graded. {BLAMELESS}" if result.status == NOT_GRADED else result.message


def _test(
    name: str, number: str, score: float, max_score: float, output: str, visibility: str, passed: bool = False
) -> dict[str, Any]:
    """One test."""
    return {
        "name": name,
        "number": number,
        "score": score,
        "max_score": max_score,
        "status": "passed" if passed else "failed",
        "output": output,
        "output_format": "text",
        "visibility": visibility,
    }
