"""Lessons, read from their text alone. What each must have is demanded by `make verify`: authoring/lesson_parts.py."""

import re

import pytest

from grader import catalog
from grader.authoring import diagrams, reading_time
from grader.catalog import paths
from grader.desk import lesson as tasks_of

EXERCISES = catalog.exercises()


def folder(exercise) -> str:
    return exercise.folder


def test_the_page_of_promises_says_what_the_helpers_of_checks_ask():
    text = paths.PROMISES.read_text("utf-8")
    for word in ("dtype", "device", "second call", "radients", "memory", "names", "load_state_dict", "−10,000"):
        assert word in text


@pytest.mark.parametrize("exercise", EXERCISES, ids=folder)
def test_what_is_folded_is_not_in_the_watch(exercise):
    tasks = tasks_of.tasks(exercise.folder)
    assert tasks and all("details" not in task.text and "Stuck?" not in task.text for task in tasks)


def test_the_minutes_of_every_lesson_are_those_of_one_rule_that_is_told(tmp_path, monkeypatch):
    for exercise in EXERCISES:
        assert list(reading_time.wrong(exercise.folder)) == []
    told = (paths.DOCS / "self-study.md").read_text("utf-8").partition("## How long a lesson takes")[2]
    assert f"{reading_time.WORDS_A_MINUTE} words" in told and "nobody was timed" in told
    assert f"{reading_time.TASK_MINUTES:g} minutes for each task" in told
    lesson = tmp_path / "README.md"
    lesson.write_text(
        paths.lesson(EXERCISES[6].folder).read_text("utf-8").replace("**Difficulty** medium", "**Difficulty** hard"),
        "utf-8",
    )
    monkeypatch.setattr(paths, "lesson", lambda folder: lesson)
    assert "by the rule for all lessons" in str(*reading_time.wrong(EXERCISES[6].folder))


@pytest.mark.parametrize("exercise", EXERCISES, ids=folder)
def test_what_to_notice_stands_beside_the_solution(exercise):
    notice = (paths.SOLUTIONS / exercise.folder / "notice.md").read_text("utf-8")
    first, deeper = notice.strip().split("\n\n")
    assert 2 <= len(re.findall(r"[.?!](?:\s|$)", first)) <= 6 and deeper.startswith("Dig deeper: ")


def test_diagrams_are_what_their_descriptions_draw_and_each_is_shown():
    drawn = diagrams.drawn()
    assert drawn
    for path, svg in drawn.items():
        assert path.read_text("utf-8") == svg, f"{path.name}: python -m grader.authoring.diagrams"
        assert f"]({path.name})" in (path.parent / "README.md").read_text("utf-8")
