"""The lesson of an exercise: the file that `make new` writes, and the problems that reading it shows."""

import re
from collections.abc import Iterator

from grader.authoring.problem import Problem, again, line_of
from grader.catalog import paths

TASK = re.compile(r"^###? Task (\d+)", re.M)
HINTS_TASK = re.compile(r"^## Task (\d+)$", re.M)
HEAD = ("You will be able to", "Builds on", "Time", "Difficulty")  # what the list below the title says
MINUTES, DIFFICULTY = re.compile(r"about \d+ minutes"), re.compile(r"\b(easy|medium|hard)\b")
PROMISES = "[common promises](../../docs/promises.md)"
HEADINGS = ("## Go further", "## Out of scope")  # experiment_parts.py asks for its own
COLUMNS = 76  # the widest line of a code block that is not cut at the side of a page
BLOCK = re.compile(r"^```.*?\n(.*?)^```", re.M | re.S)
OPENED, CLOSED = re.compile(r"^<details>\n<summary>.+</summary>\n\n", re.M), re.compile(r"\n\n</details>$", re.M)
LESSON = """# {number} {title}

- **You will be able to** TODO: what the learner can do afterwards
- **Builds on** TODO: [01](../01_dot_product_scores/README.md)
- **Time** about 30 minutes (TODO: an estimate)
- **Difficulty** TODO: easy, medium or hard
- **Numbers from** TODO: the document, by its title

You write `{slug}.py`: TODO: what it is, in a line.

> **In the real world.** TODO: the names of this in nanoGPT, Llama, PyTorch, and the one difference to look at.

TODO: what and why · the formula · a small example by hand, as docs/authors.md says under “Lessons”.

The checks also ask for the [common promises](../../docs/promises.md).

## Task 1: `{slug}`

TODO: one call and the number it gives.

<details>
<summary>Stuck? TODO: what the learner sees who is</summary>

TODO: the help.

</details>

## Experiment

TODO: the question, `make experiment EX={number}`, the table that it prints with FORMAT=md, and what it shows.

## Go further

TODO: a question without a grade.

## Out of scope

TODO: what this exercise leaves to others.

## In the papers

TODO: where the thing is written down.
"""


def wrong(folder: str) -> Iterator[Problem]:
    """Problems of the lesson's form, and of the tasks in lesson and hints."""
    lesson = paths.lesson(folder)
    if not lesson.exists():
        return
    text, mend = lesson.read_text("utf-8"), f"Write it, then: {again(folder)}"
    for what in (*_missing(text), *_folded(text)):
        yield Problem(what, lesson, mend)
    for line in (line for block in BLOCK.findall(text) for line in block.splitlines() if len(line) > COLUMNS):
        mend = f"Break the line, then: {again(folder)}"
        place = line_of(lesson, rf"^{re.escape(line)}$")
        yield Problem(f"a line of a code block is longer than {COLUMNS} columns", lesson, mend, place)
    yield from _tasks(folder)


def _missing(text: str) -> Iterator[str]:
    """The problems of what stands above the first heading of a lesson, and of its headings."""
    above = text.partition("\n## ")[0]
    yield from (f"the list below the title has no `- **{word}** …`" for word in HEAD if f"- **{word}**" not in above)
    if not MINUTES.search(above):
        yield "the list below the title does not say `about 30 minutes`, or how many it takes"
    if not DIFFICULTY.search(above):
        yield "the list below the title does not say easy, medium or hard"
    if "> **In the real world.**" not in text:
        yield "the lesson has no box `> **In the real world.** …`"
    if PROMISES not in text:
        yield f"the lesson does not link to the {PROMISES}"
    for heading in HEADINGS:
        if text.count(f"\n{heading}\n") != 1:
            yield f"the lesson has no heading `{heading}`, or has it twice"


def _folded(text: str) -> Iterator[str]:
    """Help that is folded until somebody is stuck."""
    opened, closed = text.count("<details"), text.count("</details>")
    if "<summary>Stuck?" not in text:
        yield "the lesson has no folded help: `<details>`, `<summary>Stuck? …</summary>`, the help, `</details>`"
    if not opened == closed == len(OPENED.findall(text)) == len(CLOSED.findall(text)):
        yield "`<details>` and `<summary>…</summary>` need a line each and an empty line below, `</details>` one above"


def _tasks(folder: str) -> Iterator[Problem]:
    """The lesson and the hints must number the same tasks, from 1 on."""
    lesson, hints = paths.lesson(folder), paths.hints(folder)
    if not (lesson.exists() and hints.exists()):
        return
    text, mend = lesson.read_text("utf-8"), f"Write it, then: {again(folder)}"
    tasks = [int(number) for number in TASK.findall(text)]
    hinted = {int(number) for number in HINTS_TASK.findall(hints.read_text("utf-8"))}
    if not text.startswith(f"# {folder[:2]} "):
        yield Problem(f"the lesson does not begin with `# {folder[:2]} ` and its title", lesson, mend, 1)
    if not tasks:
        yield Problem("the lesson has no heading `## Task 1`", lesson, mend)
    for number in range(1, len(tasks) + 1):
        if number not in tasks:
            yield Problem(f"the tasks are not numbered from 1 on: Task {number} is missing", lesson, mend)
        if number not in hinted:
            yield Problem(f"there is no heading `## Task {number}`", hints, mend)
