"""CS50's Classroom 50: the result.json that its runner reads, and the files of an autograder.

The contract is `classroom50/result/v1`, https://github.com/foundation50/classroom50 (schemas/result-v1.schema.json,
wiki "Advanced Autograding"). Its scores are whole numbers: one point of an exercise is SCALE points there.

The files of an autograder are published with GitHub Pages, for everybody to read. So they hold what a learner's bundle
holds, unless more is requested.

Earlier submissions are the tags that its runner puts on each, submit/<UTC time>-<commit>. Nothing is kept between two
runs of an autograder there. So which submissions were graded follows from the times of all tags and the rule, and the
mark of the last graded one from its files, which are graded again.
"""

import datetime
import io
import re
import subprocess
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.catalog import Exercise, paths
from grader.catalog.errors import WrongUse
from grader.classroom.course_rules import NAME as RULES
from grader.classroom.course_rules import NO_BRAKE, Brake
from grader.integrations import bundle
from grader.integrations.one_student import Graded
from grader.records.results import NOT_GRADED, PASSED, ExerciseResult
from grader.reports.ci import SCALE

TAG = re.compile(r"submit/(\d{4})\D?(\d\d)\D?(\d\d)\D?(\d\d)\D?(\d\d)\D?(\d\d)\D.*")
FETCH_S, GIT_S = 60, 30  # seconds that git may take
MAX_TREE = 200 << 20  # bytes of a submission's files
GIT = ("git", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false")
SCHEMA = "classroom50/result/v1"


@dataclass(frozen=True)
class Verdict:
    """What the brake says of the present submission.

    held: why it is not graded, for the student, or ""; last: the tag of the last graded submission, whose mark stays;
    standing: which graded attempt this is, in words.
    """

    held: str = ""
    last: str = ""
    standing: str = ""


def verdict(checkout: Path, brake: Brake, tag: str, now: datetime.datetime) -> Verdict:
    """What the brake says. tag: of the present submission; now: its time where the tag tells none.

    Where the tags cannot be read, nothing is known of earlier submissions, and this one is graded.
    """
    _git(checkout, "fetch", "--quiet", "--tags", "origin", seconds=FETCH_S)
    times = {name: time for name in _git(checkout, "tag", "--list", "submit/*").split() if (time := time_of(name))}
    present = time_of(tag) or now
    earlier = sorted((name for name, time in times.items() if name != tag and time <= present), key=lambda n: times[n])
    graded = [earlier[index] for index in brake.graded([times[name] for name in earlier])]
    held = brake.held([times[name] for name in graded], present)
    if held:
        return Verdict(held, graded[-1])
    return Verdict(standing=brake.standing([*(times[name] for name in graded), present]))


def time_of(tag: str) -> datetime.datetime | None:
    """The time in a tag's name; None where there is none."""
    match = TAG.fullmatch(tag)
    try:
        if not match:
            return None
        year, month, day, hour, minute, second = map(int, match.groups())
        return datetime.datetime(year, month, day, hour, minute, second, tzinfo=datetime.timezone.utc)
    except ValueError:
        return None


@contextmanager
def files_of(checkout: Path, tag: str) -> Iterator[Path | None]:
    """A folder with the files of an earlier submission; None where they cannot be had."""
    with tempfile.TemporaryDirectory(prefix="kata-earlier-") as folder, tempfile.TemporaryFile() as packed:
        command = [*GIT, "-C", str(checkout), "archive", "--format=tar", f"refs/tags/{tag}"]
        try:
            done = subprocess.run(command, stdout=packed, stderr=subprocess.DEVNULL, timeout=GIT_S, check=False)
        except (OSError, subprocess.TimeoutExpired):
            done = None
        if done is None or done.returncode or packed.tell() > MAX_TREE:
            yield None
            return
        packed.seek(0)
        with tarfile.open(fileobj=packed) as archive:
            for member in archive:
                target = Path(folder, member.name).resolve()
                if member.isfile() and target.is_relative_to(Path(folder).resolve()):
                    target.parent.mkdir(parents=True, exist_ok=True)
                    content = archive.extractfile(member)
                    target.write_bytes(content.read() if content else b"")
        yield Path(folder)


def _git(checkout: Path, *words: str, seconds: float = GIT_S) -> str:
    """What a command of git prints; "" where it fails."""
    try:
        done = subprocess.run(
            [*GIT, "-C", str(checkout), *words], capture_output=True, text=True, timeout=seconds, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


NOTHING = Verdict()  # there is no brake


def result(
    graded: Graded, environment: Mapping[str, str], now: datetime.datetime, brake: Verdict = NOTHING
) -> dict[str, Any]:
    """The content of result.json.

    environment: the variables that the runner sets; brake: what it says of this submission, a test without points.
    Raises WrongUse where the environment lacks a variable.
    """
    tests = [test for exercise, result in graded.results for test in _tests(exercise, result)]
    if words := brake.held or brake.standing:
        tests.insert(0, _test(words, not brake.held, 0.0, 0.0, brake.held))
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


def _tests(exercise: Exercise, result: ExerciseResult | None) -> Iterator[dict[str, Any]]:
    """The tests of one exercise: one for each check, or one for all where there is no verdict."""
    if result is None:
        yield _test(f"{exercise.folder[:2]} {exercise.title}", False, 0.0, exercise.max_points, "nothing was handed in")
        return
    if result.status == NOT_GRADED:
        message = "not graded. That is not your code's fault. Tell your instructor."
        yield _test(f"{exercise.folder[:2]} {exercise.title}", False, 0.0, exercise.max_points, message)
        return
    for check in result.checks:
        likely = f"likely: {check.diagnosis}" if check.diagnosis else ""
        message = "\n".join(filter(None, [check.message or result.message, likely])) if check.points == 0 else ""
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


def files(exercises: Sequence[Exercise], hidden: bool, brake: Brake = NO_BRAKE) -> dict[str, bytes]:
    """The files of one assignment: autograders/<assignment>/… Of the rules of the course they hold only the brake."""
    if hidden:
        kata = bundle.zip_files(dict(bundle.whole()))
    else:
        with zipfile.ZipFile(io.BytesIO(bundle.build())) as archive:
            top = f"{bundle.TOP}/"
            kata = bundle.zip_files({name.removeprefix(top): archive.read(name) for name in archive.namelist()})
    return {
        "autograder.py": paths.module("integrations/templates/autograder.py").read_bytes(),
        "exercises.txt": (",".join(exercise.folder for exercise in exercises) + "\n").encode(),
        "kata.zip": kata,
        **({RULES: _rules(brake).encode()} if brake else {}),
    }


def _rules(brake: Brake) -> str:
    """course.toml with the brake, for everybody to read."""
    return f"[brake]\nattempts = {brake.attempts}\nwait_minutes = {brake.wait_s / 60}\n"
