"""CS50's Classroom 50: the result.json that its runner reads, and the folder of files that it is made with.

The contract is `classroom50/result/v1`, https://github.com/foundation50/classroom50 (schemas/result-v1.schema.json,
wiki "Advanced Autograding"). Its scores are whole numbers: a point of ours counts SCALE of theirs.

What an assignment's autograder consists of is published with GitHub Pages, for everybody to read. So it holds what a
learner's bundle holds, unless it is asked for more.
"""

import datetime
import io
import zipfile
from collections.abc import Mapping, Sequence

from grader.catalog import Exercise, paths
from grader.catalog.errors import WrongUse
from grader.integrations import bundle
from grader.integrations.one_student import Graded
from grader.records.results import NOT_GRADED, PASSED, ExerciseResult

SCHEMA = "classroom50/result/v1"
SCALE = 4  # points are multiples of a quarter


def result(graded: Graded, about: Mapping[str, str], now: datetime.datetime) -> dict:
    """The content of result.json. about: the environment that the runner gives. Raises WrongUse where it lacks one."""
    tests = [test for exercise, result in graded.results for test in _tests(exercise, result)]
    commit = _known(about, "COMMIT_URL")
    return {
        "schema": SCHEMA,
        "classroom": _known(about, "CLASSROOM"),
        "assignment": _known(about, "ASSIGNMENT"),
        "assignment_type": about.get("ASSIGNMENT_TYPE") or "individual",
        "owner": about.get("OWNER") or _known(about, "USERNAME"),
        "submission": _known(about, "SUBMISSION_TAG"),
        "commit": commit,
        "release": _known(about, "RELEASE_URL"),
        "review": about.get("REVIEW_URL") or commit,
        "datetime": now.astimezone(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "score": sum(test["score"] for test in tests),
        "max-score": sum(test["max-score"] for test in tests),
        "tests": tests,
    }


def _tests(exercise: Exercise, result: ExerciseResult | None):
    if result is None:
        yield _test(f"{exercise.folder[:2]} {exercise.title}", False, 0.0, exercise.max_points, "nothing was handed in")
        return
    if result.status == NOT_GRADED:
        told = "not graded. That is not your code's fault. Tell your instructor."
        yield _test(f"{exercise.folder[:2]} {exercise.title}", False, 0.0, exercise.max_points, told)
        return
    for check in result.checks:
        likely = f"likely: {check.diagnosis}" if check.diagnosis else ""
        message = "\n".join(filter(None, [check.message or result.message, likely])) if check.points == 0 else ""
        name = f"{exercise.folder[:2]} {check.title}"
        yield _test(name, check.outcome == PASSED, check.points, check.max_points, message)


def _test(name: str, passed: bool, score: float, most: float, message: str) -> dict:
    known = {"test-name": name, "passed": passed, "score": scaled(score), "max-score": scaled(most)}
    return known | ({"message": message} if message else {})


def scaled(points: float) -> int:
    """Points as a whole number."""
    return round(points * SCALE)


def _known(about: Mapping[str, str], name: str) -> str:
    value = about.get(name, "").strip()
    if not value:
        raise WrongUse(f"The environment says no {name}: this runs inside Classroom 50's autograder alone.")
    return value


def files(exercises: Sequence[Exercise], hidden: bool) -> dict[str, bytes]:
    """The files of one assignment: autograders/<assignment>/…"""
    if hidden:
        kata = bundle.zipped(dict(bundle.whole()))
    else:
        with zipfile.ZipFile(io.BytesIO(bundle.build())) as archive:
            top = f"{bundle.TOP}/"
            kata = bundle.zipped({name.removeprefix(top): archive.read(name) for name in archive.namelist()})
    return {
        "autograder.py": paths.template("autograder.py").read_bytes(),
        "exercises.txt": (",".join(exercise.folder for exercise in exercises) + "\n").encode(),
        "kata.zip": kata,
    }
