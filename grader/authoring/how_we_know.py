"""Writes docs/how-we-know.md from what was recorded: `python -m grader.authoring.how_we_know`.

`make verify WRITE=1` records which checks fail which mistake, `make bench WHAT=where` how often the line is the true
one. The words are in templates/.
"""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from grader import catalog
from grader.catalog import mistakes, paths

ONE_CHANGE = ("cases", "true", "definition", "false", "wrong definition", "nothing")
KINDS = {
    "solution": "one mistake in the reference",
    "styles": "one mistake in a right file of another style",
    "pairs": "two mistakes at once",
    "others": "a file that others wrote",
}
# What is recorded of each kind of case.
COUNTED = dict.fromkeys(KINDS, ONE_CHANGE) | {"pairs": ("cases", "one", "both", "false")}
FIGURES = {
    "true": "the line is true",
    "definition": "no line, but the function is named, and rightly",
    "one": "one of the two lines is found",
    "both": "both lines are found",
    "false": "a false line is given",
    "wrong definition": "the wrong function is named",
    "nothing": "nothing is said",
}


def page() -> str:
    """The page as Markdown."""
    exercises = catalog.exercises()
    recorded = sum(len(mistakes.failed_checks(exercise.folder)) for exercise in exercises)
    styles = sum(len(paths.styles(exercise.folder)) for exercise in exercises)
    rows = (
        ("exercises", len(exercises), "make progress"),
        ("known mistakes tried, each refused", recorded, "make verify"),
        ("of them named by a sentence of their own", sum(map(_named, exercises)), "make verify"),
        ("right files in other styles, each with full points", styles, "make verify"),
        ("checks, each failed by some known mistake", sum(len(one.points) for one in exercises), "make verify"),
    )
    facts = json.loads(paths.BENCH_WHERE.read_text("utf-8"))
    return (
        paths.module("authoring/templates/how_we_know.txt")
        .read_text("utf-8")
        .format(
            rows="".join(f"| {what} | {number:,} | `{command}` |\n" for what, number, command in rows),
            lines="".join(_lines(facts)),
            date=facts["date"],
            exercises=facts["exercises"],
        )
    )


def _lines(facts: dict[str, Any]) -> Iterator[str]:
    """The rows on lines: what `make bench WHAT=where` recorded."""
    command = f"make bench WHAT=where MOST={facts['most']} SEED={facts['seed']}"
    for kind, counted in facts["kinds"].items():
        yield f"| **{KINDS[kind]}**: cases | {counted['cases']:,} | `{command}` |\n"
        for name in COUNTED[kind][1:]:
            yield f"| {FIGURES[name]} | {counted[name] / max(counted['cases'], 1):.0%} | `{command}` |\n"


def _named(exercise: catalog.Exercise) -> int:
    """How many recorded mistakes have a sentence that no other one has: a record is written where each is named."""
    recorded, known = mistakes.failed_checks(exercise.folder), mistakes.mistakes(exercise.folder)
    count = Counter(mistake.sentence for mistake in known)
    return sum(mistake.name in recorded and count[mistake.sentence] == 1 for mistake in known)


if __name__ == "__main__":
    paths.HOW_WE_KNOW.write_text(page(), "utf-8")
