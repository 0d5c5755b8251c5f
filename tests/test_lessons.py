"""What every lesson has, read from its text alone."""

import re

import pytest

from grader import catalog
from grader.authoring import diagrams
from grader.catalog import paths
from grader.desk import lesson as tasks_of

EXERCISES = catalog.exercises()
PROMISES = "../../docs/promises.md"
COLUMNS = 76
BLOCK = re.compile(r"^```.*?\n(.*?)^```", re.M | re.S)


def folder(exercise) -> str:
    return exercise.folder


def text_of(exercise) -> str:
    return paths.lesson(exercise.folder).read_text("utf-8")


@pytest.mark.parametrize("exercise", EXERCISES, ids=folder)
def test_a_lesson_links_to_the_common_promises(exercise):
    assert f"[common promises]({PROMISES})" in text_of(exercise)


def test_the_page_of_promises_says_what_the_helpers_of_checks_ask():
    text = paths.PROMISES.read_text("utf-8")
    for word in ("dtype", "device", "second call", "radients", "memory", "names", "load_state_dict", "−10,000"):
        assert word in text


@pytest.mark.parametrize("exercise", EXERCISES, ids=folder)
def test_a_lesson_says_what_it_gives_and_asks(exercise):
    text = text_of(exercise)
    above = text.partition("\n## ")[0]
    for word in ("You will be able to", "Builds on", "Time", "Difficulty"):
        assert f"**{word}**" in above, word
    assert re.search(r"about \d+ minutes", above) and re.search(r"\b(easy|medium|hard)\b", above)
    assert "> **In the real world.**" in text
    for heading in ("## Experiment", "## Go further", "## Out of scope"):
        assert text.count(f"\n{heading}\n") == 1, heading


@pytest.mark.parametrize("exercise", EXERCISES, ids=folder)
def test_what_is_folded_opens_and_closes_and_is_not_in_the_watch(exercise):
    text = text_of(exercise)
    assert (
        len(re.findall(r"^<details>\n<summary>.+</summary>\n\n", text, re.M)) == len(re.findall("<details", text)) > 0
    )
    assert len(re.findall(r"\n\n</details>$", text, re.M)) == text.count("</details>") == text.count("<details>")
    assert "Stuck?" in text
    assert all("details" not in task.text and "Stuck?" not in task.text for task in tasks_of.tasks(exercise.folder))


@pytest.mark.parametrize("exercise", EXERCISES, ids=folder)
def test_no_line_of_a_code_block_is_cut(exercise):
    lines = [line for block in BLOCK.findall(text_of(exercise)) for line in block.splitlines()]
    assert [line for line in lines if len(line) > COLUMNS] == []


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
