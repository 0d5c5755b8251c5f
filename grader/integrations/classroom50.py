"""CS50's Classroom 50: the result.json that its runner reads, and the files of an autograder.

The contract is `classroom50/result/v1`, https://github.com/foundation50/classroom50 (schemas/result-v1.schema.json,
wiki "Advanced Autograding"). Its scores are whole numbers: one point of an exercise is SCALE points there.

The files of an autograder are published with GitHub Pages, for everybody to read. So they hold what a learner's bundle
holds, unless more is requested.
"""

import datetime
import io
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from grader.catalog import Exercise, paths
from grader.catalog.errors import WrongUse
from grader.classroom.marks import Mark
from grader.integrations import bundle
from grader.integrations.one_student import Graded, expected
from grader.records.causes import causes
from grader.records.results import NOT_GRADED, PASSED, ExerciseResult
from grader.reports.ci import SCALE
from grader.reports.terminal import explain

SCHEMA = "classroom50/result/v1"


def result(graded: Graded, environment: Mapping[str, str], now: datetime.datetime) -> dict[str, Any]:
    """The content of result.json.

    environment: the variables that the runner sets. Raises WrongUse where the environment lacks a variable.
    """
    tests = [test for exercise, result in graded.results for test in _tests(exercise, result, graded.misplaced)]
    commit = _variable(environment, "COMMIT_URL")
    return {
        "schema": SCHEMA,
        "classroom": _variable(environment, "CLASSROOM"),
        "assignment": _variable(environment, "ASSIGNMENT"),
        "assignment_type": environment.get("ASSIGNMENT_TYPE") or "individual",
        "owner": environment.get("OWNER") or _variable(environment, "USERNAME"),
        "submission": _variable(environment, "SUBMISSION_TAG"),
        "commit": commit,
        "release": _variable(environment, "RELEASE_URL"),
        "review": environment.get("REVIEW_URL") or commit,
        "datetime": now.astimezone(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "score": sum(test["score"] for test in tests),
        "max-score": sum(test["max-score"] for test in tests),
        "tests": tests,
    }


def _tests(exercise: Exercise, result: ExerciseResult | None, misplaced: Sequence[Mark]) -> Iterator[dict[str, Any]]:
    """The tests of one exercise: one for each check, or one for all where there is no verdict."""
    if result is None or result.status == NOT_GRADED:
        blameless = "not graded. That is not your code's fault. Tell your instructor."
        message = expected(exercise, misplaced) if result is None else blameless
        yield _test(f"{exercise.folder[:2]} {exercise.title}", False, 0.0, exercise.max_points, message)
        return
    found = causes(result)
    for check in result.checks:
        message = (explain(check, found) or result.message) if check.points == 0 else ""
        name = f"{exercise.folder[:2]} {check.title}"
        yield _test(name, check.outcome == PASSED, check.points, check.max_points, message)


def _test(name: str, passed: bool, score: float, max_score: float, message: str) -> dict[str, Any]:
    """One test. score, most: points of the exercise."""
    fields = {"test-name": name, "passed": passed, "score": scale(score), "max-score": scale(max_score)}
    return fields | ({"message": message} if message else {})


def scale(points: float) -> int:
    """The points of an exercise as a whole number of points of Classroom 50."""
    return round(points * SCALE)


def _variable(environment: Mapping[str, str], name: str) -> str:
    """A variable of the environment. Raises WrongUse where it is not set."""
    value = environment.get(name, "").strip()
    if not value:
        raise WrongUse(f"The environment says no {name}: this runs inside Classroom 50's autograder alone.")
    return value


def files(exercises: Sequence[Exercise], hidden: bool) -> dict[str, bytes]:
    """The files of one assignment: autograders/<assignment>/… hidden: with solutions and hidden checks."""
    if hidden:
        kata = bundle.zip_files(dict(bundle.whole()))
    else:
        with zipfile.ZipFile(io.BytesIO(bundle.build())) as archive:
            top = f"{bundle.TOP}/"
            kata = bundle.zip_files({name.removeprefix(top): archive.read(name) for name in archive.namelist()})
    return {
        "autograder.py": bundle.with_newlines(paths.module("integrations/templates/autograder.py").read_bytes()),
        "exercises.txt": (",".join(exercise.folder for exercise in exercises) + "\n").encode(),
        "kata.zip": kata,
    }
