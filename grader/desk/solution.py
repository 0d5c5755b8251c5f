"""The reference beside the learner's file, and what to notice in it."""

import difflib
import itertools
import re
from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Column, Table
from rich.text import Text

from grader.catalog import paths
from grader.catalog.errors import WrongUse
from grader.desk import lesson
from grader.records.sanitize import inert

WIDE = 110  # columns from which two sources fit beside one another
STYLES = {"-": "red", "+": "green", " ": ""}  # yours, the reference, both
NOTICE, FURTHER = "What to notice", "Go further"
DEEPER, ANSWER = re.compile(r"^Dig deeper: ", re.M), re.compile(r"\s+Answer: ")


def page(folder: str, width: int) -> RenderableType:
    """Both sources for a terminal `width` columns wide, and below them what to notice in the reference.

    Raises WrongUse where one of the files is absent.
    """
    if not paths.solution(folder).exists():
        raise WrongUse("This copy holds no solutions. Your teacher, or the project's own repository, has them.")
    own = paths.stub(folder)
    if not own.exists():
        raise WrongUse(f"There is no file {paths.shown(own)} to compare. Get it back: make reset EX={folder[:2]}")
    sources = own.read_text("utf-8", errors="replace"), paths.solution(folder).read_text("utf-8")
    return Group(*compare(*sources, width), *_words(folder))


def compare(own: str, reference: str, width: int) -> Iterator[RenderableType]:
    """The two sources line by line: beside one another, or where the terminal is narrow below one another."""
    mine, theirs = inert(own).splitlines(), inert(reference).splitlines()
    lines = [*difflib.unified_diff(mine, theirs, n=len(mine), lineterm="")][3:]  # below its heading
    if not lines:
        yield from (Text("Yours is the reference, line by line.\n", STYLES["+"]), Text("\n".join(theirs)))
    elif width < WIDE:
        yield Text.assemble(("- yours", STYLES["-"]), "   ", ("+ the reference\n", STYLES["+"]))
        yield from (Text(f"{line[0]} {line[1:]}", STYLES[line[0]]) for line in lines)
    else:
        sides = (Column(title, ratio=1) for title in ("yours", "the reference"))
        table = Table(*sides, box=None, expand=True, padding=(0, 1))
        for _, run in itertools.groupby(lines, lambda line: line[0] == " "):
            part = [*run]
            both = ([Text(line[1:], STYLES[line[0]]) for line in part if line[0] in f" {sign}"] for sign in "-+")
            for pair in itertools.zip_longest(*both, fillvalue=Text()):
                table.add_row(*pair)
        yield table


def _words(folder: str) -> Iterator[RenderableType]:
    """The author's words on the reference, and the lesson's questions to go further, each with its answer."""
    if paths.notice(folder).exists():
        markdown = DEEPER.sub("**Dig deeper:** ", paths.notice(folder).read_text("utf-8"))
        yield from (Text(f"\n{NOTICE}", "bold"), lesson.render(ANSWER.sub("\n\n**Answer:** ", markdown)))
    if markdown := lesson.section(folder, FURTHER):
        yield from (Text(f"\n{FURTHER}", "bold"), lesson.render(markdown, lesson.ALL))
