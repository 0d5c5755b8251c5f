"""What is done to the figure of exercise 20, and what torch computes must come out; the other numbers of its lesson."""

import importlib
import re

import pytest
import torch
from figure_case import TO_LESSON, Case
from figure_truths import linear, multi_head

from grader import catalog
from grader.catalog import paths
from grader.sentence import inputs

LESSON = paths.lesson(catalog.find("20").folder)


@pytest.fixture
def script(monkeypatch):
    """Imports a script beside the lesson by its name."""
    monkeypatch.syspath_prepend(str(LESSON.parent))
    return importlib.import_module


def test_the_counts_of_what_is_read_are_those_of_the_lesson(script):
    reading = script("measure_reading")
    for new in reading.NEW:
        work, read = reading.multiply_adds(new), reading.numbers_read()
        assert work == new * read
        assert re.search(rf"^ *{new:,} +{work / 1e6:,.1f} million +{new:,} ", LESSON.read_text("utf-8"), re.M)


def cached(tokens: int) -> dict[str, torch.Tensor]:
    """Exercise 20 after some tokens: the output and what the cache holds."""
    _, W_key, W_value = linear(123, *[(3, 2)] * 3)
    kept = {"keys in the cache": W_key @ inputs()[:tokens].T, "values in the cache": W_value @ inputs()[:tokens].T}
    return multi_head(tokens=tokens) | kept


def sentence(tokens: int) -> str:
    """What is said of the last token: four products with weights of its own, and two of its head with all tokens."""
    work = 3 * 3 * 2 + 2 * 2 + 2 * 2 * tokens
    return f"takes {work} multiply-adds.* all {tokens} are computed again.* = {tokens * work}"


CASES = [
    Case([], says=sentence(6)),
    Case([TO_LESSON, {"Tokens": 3}], lambda: cached(3), sentence(3)),
    Case([TO_LESSON, ("press", "Step")], lambda: cached(1), "takes 26 multiply-adds.* it is the same"),
]
