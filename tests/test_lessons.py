"""Lessons, read from their text alone. What each must have is demanded by `make verify`: authoring/lesson_parts.py."""

import re

import pytest

from grader import catalog
from grader.authoring import diagrams
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
