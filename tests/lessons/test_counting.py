"""Counting starts at 0: what a learner reads numbers tokens, rows, heads, columns and arguments as Python does."""

import re
from collections import defaultdict

from globs import some

from grader.catalog import paths

WORDS = "token|row|head|column|position|argument|query"
# A number right behind its word: "row 2", "heads 0 and 1", "token 3 |" of a drawing.
NUMBERED = re.compile(rf"\b({WORDS})s? (\d+)(?! (?:{WORDS}|heads)\b)(?![\d.,]\d)(?: (?:and|or) (\d+)\b)?", re.I)
LESSONS = some(paths.EXERCISES.glob("*/README.md"))


def test_a_lesson_or_check_that_numbers_two_things_begins_with_0():
    for path in (*LESSONS, *some((paths.ROOT / "grader" / "checks").glob("*/*.py"))):
        numbers = defaultdict(set)
        for word, *found in NUMBERED.findall(path.read_text("utf-8")):
            numbers[word.lower()].update(int(number) for number in found if number)
        assert [word for word, seen in numbers.items() if {1, 2} <= seen and 0 not in seen] == [], path


def test_no_sum_of_a_lesson_starts_at_1():
    for path in LESSONS:
        assert not re.search(r"\\sum_\{[a-z] ?= ?1\}\^(\{\w\}|\w\b)", path.read_text("utf-8")), path
