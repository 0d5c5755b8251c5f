"""Every exercise: the parts are there, right answers in any style get full points.

That wrong answers are rejected and named is proved by `make verify`.
"""

import re

import pytest

from grader import catalog, paths, runner, stubs, submission, verify

EXERCISES = catalog.exercises()
STYLES = sorted((paths.ROOT / "tests" / "styles").glob("*/*.py"))
LEAST_STYLES = 3
CORE_POINTS = 100


def grade(folder, path, nursery, seed):
    exercise = catalog.find(folder)
    return runner.grade(exercise, submission.read(path), nursery, runner.Settings(seed=seed))


def report(result) -> str:
    return "\n".join(f"{check.id}: {check.message}" for check in result.checks if check.outcome != "passed")


@pytest.mark.parametrize("style", STYLES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_right_in_this_style(style, nursery):
    for seed in (11, 12):
        result = grade(style.parent.name, style, nursery, seed)
        assert result.status == "passed", report(result)


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.folder)
def test_enough_styles(exercise):
    assert sum(style.parent.name == exercise.folder for style in STYLES) >= LEAST_STYLES


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.folder)
def test_the_solution_is_right_for_many_seeds(exercise, nursery):
    for seed in range(20, 25):
        result = grade(exercise.folder, paths.solution(exercise.folder), nursery, seed)
        assert result.status == "passed", report(result)


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.folder)
def test_the_stub_is_not_started(exercise, nursery):
    stub = stubs.make(paths.solution(exercise.folder).read_text("utf-8"))
    handed_in = submission.Submission(stub, "stub.py")
    result = runner.grade(exercise, handed_in, nursery, runner.Settings(seed=1))
    assert not result.started and result.points == 0
    assert all(check.outcome != "passed" for check in result.checks)


def test_the_core_track_is_100_points():
    assert sum(exercise.max_points for exercise in EXERCISES if exercise.track == "core") == CORE_POINTS


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.folder)
def test_lesson_and_hints_speak_of_the_same_tasks(exercise):
    lesson = (paths.EXERCISES / exercise.folder / "README.md").read_text("utf-8")
    hints = (paths.EXERCISES / exercise.folder / "hints.md").read_text("utf-8")
    tasks = [line for line in lesson.splitlines() if re.match(r"###? Task \d", line)]
    assert lesson.startswith(f"# {exercise.folder[:2]} ")
    assert tasks
    for number in range(1, len(tasks) + 1):
        assert any(f" Task {number}" in line for line in tasks), f"lesson: Task {number}"
        assert f"## Task {number}\n" in hints, f"hints: Task {number}"


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.folder)
def test_wrong_versions_say_what_is_wrong(exercise):
    sentences = [verify.sentence(path) for path in paths.wrong_versions(exercise.folder)]
    assert len(set(sentences)) == len(sentences), "two wrong versions have the same sentence"
