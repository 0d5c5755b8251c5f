"""The reference beside the learner's file, and what to notice in it."""

import difflib
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.table import Table
from rich.text import Text

from grader.catalog import paths
from grader.catalog.errors import WrongUse
from grader.desk import lesson
from grader.records.sanitize import inert

WIDE = 110  # columns from which two sources fit beside one another
LEAST_ROOM = 10  # columns that a wrapped line has at least
YOURS, REFERENCE = "red", "green"
NOTICE, FURTHER = "What to notice", "Go further"
DEEPER, ANSWER = re.compile(r"^Dig deeper: ", re.M), re.compile(r"\s+Answer: ")


def page(folder: str, width: int) -> RenderableType:
    """Both sources for a terminal `width` columns wide, and below them what to notice in the reference.

    Raises WrongUse where one of the files is absent.
    """
    try:
        reference = paths.solution(folder).read_text("utf-8")
    except OSError:
        raise WrongUse(
            "This copy holds no solutions. Your teacher, or the project's own repository, has them."
        ) from None
    try:
        own = paths.stub(folder).read_text("utf-8", errors="replace")
    except OSError:
        path = paths.shown(paths.stub(folder))
        raise WrongUse(f"There is no file {path} to compare. Get it back: make reset EX={folder[:2]}") from None
    return Group(*compare(own, reference, width), *_words(folder))


def compare(own: str, reference: str, width: int) -> Iterator[RenderableType]:
    """The two sources line by line: beside one another, or where the terminal is narrow below one another."""
    mine, theirs = inert(own).splitlines(), inert(reference).splitlines()
    if mine == theirs:
        yield Text("Yours is the reference, line by line.\n", REFERENCE)
        yield Hanging(Text("\n".join(theirs)))
        return
    table = Table(box=None, expand=True, padding=(0, 1))
    for title in ("yours", "the reference"):
        table.add_column(title, ratio=1)
    below = [Text.assemble(("- yours", YOURS), "   ", ("+ the reference\n", REFERENCE))]
    for tag, a, b, c, d in difflib.SequenceMatcher(None, mine, theirs, autojunk=False).get_opcodes():
        styles = ("", "") if tag == "equal" else (YOURS, REFERENCE)
        for lines in itertools.zip_longest(mine[a:b], theirs[c:d], fillvalue=""):
            table.add_row(*(Hanging(Text(line, style)) for line, style in zip(lines, styles)))
        below += [Text(f"{'- ' if styles[0] else '  '}{line}", styles[0]) for line in mine[a:b]]
        below += [Text(f"+ {line}", REFERENCE) for line in theirs[c:d] if styles[0]]
    yield from [table] if width >= WIDE else map(Hanging, below)


@dataclass(frozen=True)
class Hanging:
    """Code whose wrapped lines keep the indentation of their first line."""

    text: Text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        for line in self.text.split("\n", allow_blank=True):
            indent = len(line.plain) - len(line.plain.lstrip())
            for part in line[indent:].wrap(console, max(options.max_width - indent, LEAST_ROOM)) or [Text()]:
                part.rstrip()
                yield Text(" " * indent, no_wrap=True, overflow="ignore") + part


def _words(folder: str) -> Iterator[RenderableType]:
    """The author's words on the reference, and the lesson's questions to go further, each with its answer."""
    if paths.notice(folder).exists():
        markdown = DEEPER.sub("**Dig deeper:** ", paths.notice(folder).read_text("utf-8"))
        yield from (Text(f"\n{NOTICE}", "bold"), lesson.render(ANSWER.sub("\n\n**Answer:** ", markdown)))
    if markdown := lesson.section(folder, FURTHER):
        yield from (Text(f"\n{FURTHER}", "bold"), lesson.render(markdown, lesson.ALL))
