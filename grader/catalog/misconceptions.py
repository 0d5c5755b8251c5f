"""The misconceptions of learners, and the known mistakes that show each of them.

The exercise whose lesson clears one up describes it in its `exercise.toml`; a mistake names it by a heading above it.
"""

import functools
import re

from grader.catalog import mistakes
from grader.catalog.exercise import Misconception, exercises

HEADING = re.compile(r"^#{2,3} (.+?)\s*$", re.M)


@functools.cache
def misconceptions() -> dict[str, Misconception]:
    """All misconceptions by id, in the order of the lessons."""
    return {one.id: one for exercise in exercises() for one in exercise.misconceptions}


def of_mistakes(folder: str) -> dict[str, Misconception]:
    """The misconception of each mistake of an exercise, by the mistake's name."""
    by_id, known = misconceptions(), mistakes.mistakes(folder)
    return {mistake.name: by_id[mistake.misconception] for mistake in known if mistake.misconception in by_id}


def of_sentences(folder: str) -> dict[str, Misconception]:
    """The misconception of each mistake of an exercise, by the mistake's sentence, which the learner reads."""
    by_name = of_mistakes(folder)
    return {one.sentence: by_name[one.name] for one in mistakes.mistakes(folder) if one.name in by_name}


def heading(lesson: str, section: str) -> str:
    """The whole heading of a section in the text of a lesson: "Task 1" stands for "Task 1: …"; "" without one."""
    headings = HEADING.findall(lesson)
    return next((text for text in headings if text == section or text.startswith(f"{section}:")), "")
