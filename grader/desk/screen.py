"""Draws the pages of the watch on the terminal."""

import contextlib
import re
from collections.abc import Iterable

from rich.console import Console, RenderableType
from rich.markdown import Markdown
from rich.padding import Padding
from rich.text import Text
from rich.theme import Theme

from grader.catalog import paths
from grader.desk.main_page import View, heading, hints, keys, notes, verdict
from grader.desk.pager import Pager
from grader.reports import formulas

SCROLLING = "↑ ↓ PgUp PgDn Home End: scroll · /: search"
LESSON_LINES = (3, 14)  # of the task's text, at least and at most
LINKS = re.compile(r"\[([^\]]+)\]\([^)]+\)")


class Screen:
    """Draws pages, each with its foot at the bottom. What is longer than the terminal scrolls: see pager.py.

    prompt: what was typed to be searched for, while it is typed.
    """

    def __init__(self, console: Console) -> None:
        self.console = console
        console.push_theme(Theme({"markdown.code": "cyan"}))  # no background: terminals are dark or light
        self.plain = console.is_dumb_terminal
        self.has_drawn = False
        self.pager = Pager()
        self.prompt: str | None = None
        self.lines: list[str] = []  # of the page, without its foot
        self.foot: list[str] = []
        self.lesson_lines: dict[tuple[str, int], list[str]] = {}  # by Markdown and width

    def draw(self, parts: Iterable[RenderableType], foot: Iterable[RenderableType]) -> None:
        """Show the page instead of the one before."""
        self.lines, self.foot = self._lines(parts), self._lines(foot)
        self.write()

    def write(self) -> None:
        """Show the part of the page that is to be seen, in one write, so that it does not flicker."""
        if self.plain:
            text = "\n".join([*self.lines, *self.foot, ""])
        else:
            screen_lines = [*self._seen(), *self._below(), *self.foot]
            scrolled = "" if self.has_drawn else "\n" * self.console.height  # keeps what the terminal showed before
            text = f"{scrolled}\x1b[H" + "\x1b[K\n".join(screen_lines) + "\x1b[K\x1b[J"
        self.has_drawn = True
        with contextlib.suppress(OSError):  # the window was closed, which the keyboard reports
            self.console.file.write(text)
            self.console.file.flush()

    def _seen(self) -> list[str]:
        """The lines of the page that are seen, and empty ones down to the foot."""
        room = self.console.height - len(self.foot)
        self.pager.show(self.lines, room)
        if self.pager.scrolls or self.prompt is not None or self.pager.searched:
            self.pager.show(self.lines, room := room - 1)  # _below takes a line
        lines = self._lines(self.pager.seen()) if self.pager.searched else [*self.pager.visible()]
        return [*lines, *[""] * (room - len(lines))]

    def _below(self) -> list[str]:
        """The position in the page and the keys that scroll; while searching, the text that is searched for."""
        pager = self.pager
        if self.prompt is not None:
            return self._lines([Text(f"/{self.prompt}▏", "bold")])
        if pager.searched and pager.found is None:
            return self._lines([Text(f"“{pager.searched}” is not on this page", "yellow", no_wrap=True)])
        if not pager.scrolls:
            return [""] * bool(pager.searched)
        return self._lines([Text(f"{pager.position} · {SCROLLING}", "dim", no_wrap=True, overflow="ellipsis")])

    def _lines(self, parts: Iterable[RenderableType]) -> list[str]:
        text = self.text(parts)
        return text.removesuffix("\n").split("\n") if text else []

    def text(self, parts: Iterable[RenderableType]) -> str:
        """The parts as text with escape codes, in the terminal's width."""
        with self.console.capture() as captured:
            for part in parts:
                self.console.print(part, crop=False)
        return captured.get()

    def main(self, view: View) -> None:
        """Draw the main page. The task's text gets the lines that the other parts leave free."""
        above, below, foot = (
            heading(view),
            [*hints(view), *verdict(view)],
            [*notes(view), keys(view, self.console.width)],
        )
        room = self.console.height - self.text([*above, *below, *foot]).count("\n") - 2
        self.draw([*above, *self.task(view, room), *below], foot)

    def task(self, view: View, room: int) -> list[RenderableType]:
        """The current task, with its text from the lesson. room: the lines that it may take."""
        task = view.watched.task
        if task is None:
            return []
        least, most = LESSON_LINES
        title = Text.assemble((f"Task {task.number}  ", "dim"), (task.title.replace("`", ""), "bold"))
        lines = self.lesson(task.text, self.console.width)
        count = max(least, min(room - 2, most))
        text = Text.from_ansi("\n".join(lines[:count]), no_wrap=True)
        if len(lines) > count:
            lesson = paths.shown(paths.lesson(view.watched.exercise.folder))
            return [title, text, Text(f"  … more in {lesson}", "dim"), Text()]
        return [title, text, Text()]

    def lesson(self, markdown: str, width: int) -> list[str]:
        """A task's text as lines for the terminal. Lines that were made before are reused."""
        if (markdown, width) not in self.lesson_lines:
            page = Markdown(LINKS.sub(r"\1", formulas.as_text(markdown)), code_theme="ansi_dark")
            lines = self.text([Padding(page, (0, 0, 0, 2))]).split("\n")
            self.lesson_lines[markdown, width] = [line for line in lines if Text.from_ansi(line).plain.strip()]
        return self.lesson_lines[markdown, width]
