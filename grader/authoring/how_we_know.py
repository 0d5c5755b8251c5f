"""Writes docs/how-we-know.md from what was recorded: `python -m grader.authoring.how_we_know`.

`make verify WRITE=1` records which checks fail which mistake, `make bench WHAT=where` how often the line is the true
one.
"""

import json
from collections import Counter

from grader import catalog
from grader.catalog import mistakes, paths

HEAD = """# How we know that the grader is right

A grader is a claim: this file is right, that one is wrong, and here is why. Each figure below has the command that
repeats it on your machine.

| what | figure | command |
|---|---:|---|
"""
TAIL = """
`make verify` fails as soon as one known mistake is accepted, or is named by another one's sentence, or one right file
loses a point. So the first two rows say at the same time how many were tried, refused and named.

Wrong files that nobody wrote for this grader are tried too. 65 variants that the tests of other courses accepted, or
that somebody wrote who looked for gaps, are in `tests/judge/peer_variants.toml`; what people write *instead of* a step
(nothing, a mean, a bound, −20, −10,000) is made from the solutions by `tests/judge/test_variants.py`, for all
exercises. `THOROUGH=1 make test PYTEST=tests/judge/test_variants.py` grades them all. That file says which of them are
as good as the right step, as −1,000,000,000 for −∞.

Which checks fail which mistake is a table of its own, which `make docs` makes.
{where}
## What is not shown

- That a wrong file of a kind that nobody has thought of is refused.
- That a sentence is true for every file that gets it. It is tried out on the file at hand, but two different mistakes
  can give the same numbers.
- What is said of mistakes on a GPU. On an H200 every solution passed with `DEVICE=cuda`, and the kernels of 32 ran
  compiled, but the figures here come from a CPU. `make verify DEVICE=cuda` makes them on yours.
- That the sandbox holds against everybody. [SECURITY.md](../SECURITY.md) says what it stops, and what it does not.

## What to ask of any grader

1. How many wrong files has it been tried on, who wrote them, and how many did it accept?
2. Does it run the learner's own file, on inputs that the learner has not seen?
3. Which right files, written in other ways, has it refused?
4. Does it look at gradients, dtypes, masks and memory, or at shapes and sums of rows?
5. When it says what is wrong, how often is that true, and can you repeat the figure?
"""


WHERE = """
## How often the line is the true one

Most cases are drawn from the known mistakes, and each mistake is left out of the search as if nobody had written it
down. Those of others are in `tests/judge/peer_variants.toml`. A line counts as true if it is the changed one or the
next to it. Measured on {date} over {exercises} exercises.
`make bench WHAT=where` draws up to 12 cases of each kind for each exercise by itself, and another `SEED=` draws others.

| what | figure | command |
|---|---:|---|
"""
COUNTED = {  # what is recorded of each kind of case
    "solution": ("cases", "true", "definition", "false", "wrong definition", "nothing"),
    "styles": ("cases", "true", "definition", "false", "wrong definition", "nothing"),
    "pairs": ("cases", "one", "both", "false"),
    "others": ("cases", "true", "definition", "false", "wrong definition", "nothing"),
}
KINDS = {
    "solution": "one mistake in the reference",
    "styles": "one mistake in a right file of another style",
    "pairs": "two mistakes at once",
    "others": "a file that others wrote",
}
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
    rows = (
        ("exercises", len(exercises), "make progress"),
        ("known mistakes tried, each refused", recorded, "make verify"),
        ("of them named by a sentence of their own", sum(map(_named, exercises)), "make verify"),
        ("right files in other styles, each with full points", _styles(exercises), "make verify"),
        ("checks, each failed by some known mistake", sum(len(one.points) for one in exercises), "make verify"),
    )
    return (
        HEAD
        + "".join(f"| {what} | {number:,} | `{command}` |\n" for what, number, command in rows)
        + TAIL.replace("{where}", where())
    )


def where() -> str:
    """The section on lines: what `make bench WHAT=where` recorded."""
    facts = json.loads(paths.BENCH_WHERE.read_text("utf-8"))
    lines, command = [], f"make bench WHAT=where MOST={facts['most']} SEED={facts['seed']}"
    for kind, counted in facts["kinds"].items():
        lines.append(f"| **{KINDS[kind]}**: cases | {counted['cases']:,} | `{command}` |\n")
        for name in COUNTED[kind][1:]:
            lines.append(f"| {FIGURES[name]} | {counted[name] / max(counted['cases'], 1):.0%} | `{command}` |\n")
    return WHERE.format(date=facts["date"], exercises=facts["exercises"]) + "".join(lines)


def _named(exercise: catalog.Exercise) -> int:
    """How many recorded mistakes have a sentence that no other one has: a record is written where each is named."""
    recorded, known = mistakes.failed_checks(exercise.folder), mistakes.mistakes(exercise.folder)
    count = Counter(mistake.sentence for mistake in known)
    return sum(mistake.name in recorded and count[mistake.sentence] == 1 for mistake in known)


def _styles(exercises: tuple[catalog.Exercise, ...]) -> int:
    """How many right answers in other styles there are."""
    return sum(len(paths.styles(exercise.folder)) for exercise in exercises)


if __name__ == "__main__":
    paths.HOW_WE_KNOW.write_text(page(), "utf-8")
