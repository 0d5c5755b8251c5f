"""What every lesson has, read from its text alone."""

import re

import pytest

from grader import catalog
from grader.catalog import paths

EXERCISES = catalog.exercises()
PROMISES = "../../docs/promises.md"


@pytest.fixture(params=EXERCISES, ids=lambda exercise: exercise.folder)
def lesson(request) -> str:
    return paths.lesson(request.param.folder).read_text("utf-8")


def test_a_lesson_links_to_the_common_promises(lesson):
    assert f"[common promises]({PROMISES})" in lesson


def test_the_page_of_promises_says_what_the_helpers_of_checks_ask():
    text = paths.PROMISES.read_text("utf-8")
    for word in ("dtype", "device", "second call", "radients", "memory", "names", "load_state_dict", "−10,000"):
        assert re.search(re.escape(word), text), word
