"""A lesson, read from its README.md: its numbered tasks, its example calls, its text for a terminal, its page.

Its form is what `make verify` demands: grader/authoring/parts.py. The rule of examples, which docs/authors.md tells the
authors: every `python` block below the heading "Tasks" or a heading "Task N" counts, from top to bottom, in one
namespace. Where a comment behind an expression, or on the lines below it, begins with a value as Python prints it, that
is the lesson's value. Words may follow it.
"""

from __future__ import annotations

import ast
import itertools
import os
import platform
import re
import sys
import webbrowser
from collections.abc import Container, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from grader.catalog import paths
from grader.catalog.errors import InfrastructureError
from grader.desk import formulas
from grader.records.results import PASSED, ExerciseResult

if TYPE_CHECKING:  # the command line reads no lesson before it needs one
    from rich.markdown import Markdown

FOLDED = re.compile(r"^<details>.*?^</details>\n*", re.M | re.S)  # what a page shows once it is opened
OTHER_HEADING = re.compile(r"^#{1,3} ")
EXAMPLES_HEADING = re.compile(r"^(?:## Tasks|### Task (\d+): (.+))$")
BLOCK = re.compile(r"^```python *\n(.*?)^```", re.M | re.S)
RAISES = re.compile(r"([A-Z]\w*(?:Error|Exception))\b")
OPENING = re.compile(r"(?:tensor|torch\.Size)?[\[({]")
PAIRS = ("()", "[]", "{}")
STILL = re.compile(r"^!\[[^\]]*\]\(figure\.svg\)\n\n", re.M)  # a page with the figure itself needs no picture of it
IN_BROWSER = "(The figure: press b.)\n\n"
HINT = re.compile(r"^Stuck\? \[Hint\]\(hints\.md#task-\d+\)\n*", re.M)  # the link below each task
# What a page says once, where a README.md has the heading only.
FRAME = {
    "## Tasks": "`make try EX={number}` runs the calls below on your file and shows your numbers beside the lesson's.",
    "## Experiment": "`make experiment EX={number}` measures this again, with the script `experiment.py`.",
}
PLAIN = re.compile(r"(?:-?\d[\d_]*(?:\.\d*)?(?:e[+-]?\d+)?|True|False|None|'[^']*')(?![\w.(])")
SUMMARY = re.compile(r"^<details>\s*<summary>(?P<title>.*?)</summary>(?P<body>.*?)^</details>", re.M | re.S)
TAGS = re.compile(r"</?(?:b|i|em|strong|code|sub|sup)>")
# What a terminal shows otherwise than a page.
SHOWN = re.compile(
    r"(?P<code>^```.*?^```|`[^`\n]*`)"
    r"|^#{1,6} +(?P<heading>[^\n]*)$"
    r"|!\[(?P<picture>[^\]]*)\]\([^)]*\)"
    r"|\[(?P<link>[^\]]+)\]\([^)]+\)",
    re.M | re.S,
)
CLOSED, OPEN = "▸", "▾"
FOLD = re.compile(rf"\s*[{CLOSED}{OPEN}] ")  # how the line of an answer begins
ALL = range(10_000)  # answers
# A link; or code, in which nothing is a link.
LINK_OR_CODE = re.compile(
    r"^```.*?^```"
    r"|(?<!!)\[(?P<words>`[^`\n]+`|[^\]\n`]+)\]\((?!https?:|mailto:|#)(?P<target>[^)\s#]+)(?P<anchor>#[^)\s]*)?\)"
    r"|`(?:[^`\n]|\n(?!\n))+`",
    re.M | re.S,
)


@dataclass(frozen=True)
class Task:
    """One task: its number, its heading and its text (Markdown), without what is folded."""

    number: int
    title: str
    text: str


def text(folder: str) -> str:
    """The Markdown of a lesson; "" where there is none."""
    try:
        return paths.lesson(folder).read_text("utf-8", errors="replace")
    except OSError:
        return ""


def tasks(folder: str) -> tuple[Task, ...]:
    """The tasks of an exercise in order; none where the lesson is absent or has none."""
    shown = ((number, title, HINT.sub("", FOLDED.sub("", body))) for number, title, body in _sections(text(folder)))
    return tuple(Task(number, title, body.strip()) for number, title, body in shown if number)


def _sections(markdown: str) -> Iterator[tuple[int, str, str]]:
    """The number, the title and the text of each task; before them 0 and "" for what is above the first."""
    task, lines, is_code = None, list[str](), False
    for line in [*markdown.splitlines(), "# "]:
        is_code ^= line.startswith("```")
        if is_code or not OTHER_HEADING.match(line):
            lines.append(line)
            continue
        if task:
            yield int(task[1] or 0), task[2] or "", "\n".join(lines)
        task, lines = EXAMPLES_HEADING.match(line), []


def for_page(markdown: str, figure: str = "", sentences: dict[str, str] = FRAME, has_hints: bool = False) -> str:
    """A lesson as a page shows it that has another way to the hints, or none.

    figure: what is there in place of the still picture; sentences: what the page says below a heading, in which
    {number} is the lesson's; has_hints: whether the links to the hints stay.
    """
    markdown = STILL.sub(figure, markdown if has_hints else HINT.sub("", markdown))
    for heading, sentence in sentences.items():
        markdown = markdown.replace(f"\n{heading}\n", f"\n{heading}\n\n{sentence.format(number=markdown[2:4])}\n", 1)
    return markdown


def current(folder: str, result: ExerciseResult | None) -> Task | None:
    """The first task with a check that is not passed in the last verdict; None where all are done."""
    if result is None:
        return next(iter(tasks(folder)), None)
    not_done = {check.task for check in result.checks if check.outcome != PASSED}
    return next((task for task in tasks(folder) if task.number in not_done), None)


@dataclass(frozen=True)
class Example:
    """One statement of a lesson's examples.

    task: its number, 0 before the first; is_call: an expression, whose value can be shown; value: as the lesson prints
    it, or ""; raises: the name of the exception that the lesson announces, or "".
    """

    task: int
    title: str
    code: str
    is_call: bool = False
    value: str = ""
    raises: str = ""

    @property
    def is_shown(self) -> bool:
        """Whether the lesson shows its value."""
        return bool(self.value or self.raises)


def examples(folder: str) -> tuple[Example, ...]:
    """The examples of an exercise in the lesson's order; none where the lesson is absent.

    Raises InfrastructureError where a block is no Python.
    """
    try:
        return read_examples(text(folder))
    except SyntaxError as error:
        raise InfrastructureError(f"{paths.shown(paths.lesson(folder))}: {error.text or ''} is no Python") from None


def read_examples(markdown: str) -> tuple[Example, ...]:
    """The examples of a lesson's text. Raises SyntaxError where a block is no Python."""
    return tuple(
        example
        for task, title, body in _sections(markdown)
        for block in BLOCK.findall(body)
        for example in statements(block, task, title)
    )


def statements(block: str, task: int, title: str) -> Iterator[Example]:
    """The statements of one block, each with what the comments behind and below it say."""
    lines, body = block.splitlines(), ast.parse(block).body
    for node, following in zip(body, [*body[1:], None]):
        code, end = ast.get_source_segment(block, node) or "", node.end_lineno or node.lineno
        if not isinstance(node, ast.Expr):
            yield Example(task, title, code)
            continue
        behind = lines[end - 1].encode()[node.end_col_offset :].decode().strip().removeprefix("#").strip()
        below = lines[end : following.lineno - 1 if following else None]
        comment = "\n".join(line[1:].removeprefix(" ") for line in below if line.startswith("#"))
        value, raises = next(filter(any, map(value_of, (behind, comment))), ("", ""))
        yield Example(task, title, code, True, value, raises)


def value_of(comment: str) -> tuple[str, str]:
    """The value with which a comment begins, or the exception; "" for what it does not tell."""
    if match := RAISES.match(comment):
        return "", match[1]
    if match := PLAIN.match(comment):
        return match[0], ""
    if OPENING.match(comment):
        beginnings = (comment[: closing.end()] for closing in re.finditer(r"[\])}]", comment))
        whole = (text for text in beginnings if all(text.count(pair[0]) == text.count(pair[1]) for pair in PAIRS))
        return next(whole, ""), ""
    return "", ""


def cells(block: str) -> list[str]:
    """A block in pieces, each of which ends with an expression whose value the lesson tells, and with that value.

    Raises SyntaxError where it is no Python.
    """
    lines, cell_texts, first = block.splitlines(), [], 0
    body = ast.parse(block).body
    for example, following in zip(statements(block, 0, ""), [*body[1:], None]):
        end = following.lineno - 1 if following else len(lines)
        if example.is_shown or following is None:
            cell_texts.append("\n".join(lines[first:end]).strip("\n"))
            first = end
    return cell_texts


def render(markdown: str, opened: Container[int] = ()) -> Markdown:
    """Markdown of a lesson as a terminal shows it."""
    from rich.markdown import Markdown

    return Markdown(plain(markdown, opened), code_theme="ansi_dark")


def plain(markdown: str, opened: Container[int] = ()) -> str:
    """The Markdown without HTML, links and pictures, its headings in bold, its formulas as text."""
    numbers = itertools.count()

    def fold(found: re.Match[str]) -> str:
        title, is_open = TAGS.sub("", found["title"]).strip(), next(numbers) in opened
        return f"{OPEN} *{title}*\n\n{found['body'].strip()}\n" if is_open else f"{CLOSED} *{title}*"

    def show(found: re.Match[str]) -> str:
        if found["heading"] is not None:
            return f"**{SHOWN.sub(show, found['heading']).replace('**', '')}**"
        return found["code"] or found["link"] or f"(A picture: {found['picture']})"

    markdown = SUMMARY.sub(fold, for_page(markdown, IN_BROWSER, {}))
    return SHOWN.sub(show, formulas.as_text(markdown, as_markdown=True))


def section(folder: str, heading: str) -> str:
    """The text of a section of the lesson, as Markdown without its heading; "" where there is none."""
    found = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", text(folder), re.M | re.S)
    return found[1].strip() if found else ""


def open_in_browser(address: str) -> None:
    """Open an address, where there is a window for a browser. One within the terminal would draw over the watch."""
    has_window = sys.platform == "darwin" or "microsoft" in platform.release().lower()
    if has_window or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")):
        webbrowser.open(address)


def fit_links(text: str, path: Path, page: str, places: dict[Path, str]) -> str:
    """The text with links to what is shown there. A link to any other file becomes its name.

    path: the file of the text; page: its place there; places: file → its place there.
    """

    def fitting(match: re.Match[str]) -> str:
        """One link as it must be there."""
        if match["target"] is None:
            return match[0]
        target = places.get((path.parent / match["target"]).resolve())
        if target is None:
            return f"`{match['words'].strip('`')}`"
        relative = PurePosixPath(os.path.relpath(target, PurePosixPath(page).parent))
        return f"[{match['words']}]({relative}{match['anchor'] or ''})"

    return LINK_OR_CODE.sub(fitting, text)
