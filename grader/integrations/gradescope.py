"""Gradescope: the results.json that it shows, and the zip from which it builds its autograder.

The fields are those of https://gradescope-autograders.readthedocs.io/en/latest/specs/
"""

from collections.abc import Iterator, Sequence
from typing import Any

from grader.catalog import Exercise, paths
from grader.classroom.course import settings
from grader.classroom.office import Office
from grader.integrations import bundle, gradescope_rules
from grader.integrations.gradescope_rules import NO_RULES, Ruled
from grader.integrations.one_student import Graded
from grader.records.results import NOT_GRADED, PASSED, CheckResult, ExerciseResult

VISIBLE = ("visible", "after_due_date", "after_published", "hidden")  # Gradescope's words for who sees a test
SCRIPTS = ("setup.sh", "run_autograder")
BLAMELESS = "That is not your code's fault. Tell your instructor."


def results(graded: Graded, hidden: str = "visible", ruled: Ruled = NO_RULES) -> dict[str, Any]:
    """The content of results.json. hidden: who sees the hidden checks (one of VISIBLE); nobody sees their inputs.

    ruled: the rules of the course, which change the results and the score.
    """
    graded, score, lines = ruled.applied(graded)
    tests = [
        _weighted(test, ruled.weight(exercise.folder))
        for exercise, result in graded.results
        for test in _tests(exercise, result, hidden)
    ]
    messages = [f"{result.exercise}: {_message(result)}" for _, result in graded.results if result and result.message]
    misplaced = [f"not graded: {entry.path}: {entry.reason}" for entry in graded.misplaced]
    return {
        "execution_time": graded.seconds,
        **({} if score is None else {"score": score}),
        "output": "\n".join([*lines, *messages, *misplaced]),
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


def _tests(exercise: Exercise, result: ExerciseResult | None, hidden: str) -> Iterator[dict[str, Any]]:
    """The tests of one exercise: one for each check, or one for all where there is no verdict."""
    if result is None:
        file = f"{exercise.folder}/{exercise.slug}.py"
        name = f"{exercise.folder[:2]} {exercise.title}"
        yield _test(name, exercise.folder[:2], 0.0, exercise.max_points, f"nothing was handed in: {file}", "visible")
        return
    if result.status == NOT_GRADED:
        name = f"{exercise.folder[:2]} {exercise.title}"
        yield _test(name, exercise.folder[:2], 0.0, exercise.max_points, _message(result), "visible")
        return
    for number, check in enumerate(result.checks, 1):
        name = f"{exercise.folder[:2]} {exercise.title}: {check.title}"
        visibility = hidden if check.hidden else "visible"
        place = f"{exercise.folder[:2]}.{number}"
        yield _test(name, place, check.points, check.max_points, _output(check), visibility, check.outcome == PASSED)


def _weighted(test: dict[str, Any], weight: float) -> dict[str, Any]:
    """A test with its share of the assignment's points."""
    return test | {field: round(test[field] * weight, 6) for field in ("score", "max_score")}


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


def _output(check: CheckResult) -> str:
    """A check's message and diagnosis."""
    return "\n".join(filter(None, [check.message, f"likely: {check.diagnosis}" if check.diagnosis else ""]))


def package(
    exercises: Sequence[Exercise], seed: int | None, hidden: str, accept_tier: str | None, office: Office | None = None
) -> bytes:
    """The autograder zip. seed None: a new secret in every run; otherwise every run uses this seed.

    office: the rules of the course, which go into the zip without what names students: see gradescope_rules.files.
    """
    kata = dict(bundle.whole())
    arguments = [",".join(exercise.folder for exercise in exercises), "--hidden", hidden]
    arguments += ["--seed", str(seed)] if seed is not None else []
    arguments += ["--accept-tier", accept_tier] if accept_tier else []
    content = {f"kata/{name}": data for name, data in kata.items()}
    content |= {name: paths.module(f"integrations/templates/{name}").read_bytes() for name in SCRIPTS}
    if office is not None:
        content |= gradescope_rules.files(office)
        arguments += ["--rules", f"../{settings.NAME}"]
    content["options"] = ("\n".join(arguments) + "\n").encode()
    return bundle.zipped(content, programs=SCRIPTS)
