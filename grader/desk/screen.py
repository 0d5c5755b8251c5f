"""The terminal of the watch: its main page, how pages are drawn, what of them is seen, and the keys that come in."""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import sys
import termios
import tty
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import dropwhile
from typing import Any

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.text import Text
from rich.theme import Theme

from grader import catalog
from grader.catalog import Exercise, paths
from grader.catalog.errors import WrongUse
from grader.desk import ending, formulas, lesson, progress
from grader.desk.grading_thread import Watched
from grader.records.results import PASSED
from grader.reports import terminal

SCROLLING = "↑ ↓ PgUp PgDn Home End: scroll"
LESSON_LINES = (3, 14)  # of the task's text, at least and at most
UP, DOWN, PAGE_UP, PAGE_DOWN, HOME, END = "up", "down", "page up", "page down", "home", "end"
RESIZED, RESUMED, QUIT, SAVED, GRADED, DRAWN = "resized", "resumed", "quit", "saved", "graded", "drawn"
ENTER, OTHER = "enter", "other"  # OTHER: a key that only leads back
KEY_NAMES = {
    "[A": UP, "OA": UP, "[B": DOWN, "OB": DOWN, "[5~": PAGE_UP, "[6~": PAGE_DOWN,
    "[H": HOME, "OH": HOME, "[1~": HOME, "[7~": HOME,
    "[F": END, "OF": END, "[4~": END, "[8~": END,
    "": OTHER,
}  # fmt: skip
PLAIN_KEYS = {"\r": ENTER, "\n": ENTER, "\x04": "q"}
TYPED = re.compile(r"\x1b(?P<sequence>\[[0-9;?]*[A-Za-z~]|O[A-Za-z]|)|(?P<character>.)", re.S)
BAR = {"passed": ("█", "green"), "begun": ("▒", "yellow"), "not started": ("░", "dim")}


def heading(exercise: Exercise) -> list[RenderableType]:
    """The exercise, its path, its file, and how far all exercises are."""
    name = Text.assemble((f"{exercise.folder[:2]} {exercise.title}", "bold"), (f"  {exercise.path.name}", "dim"))
    return [name, Text(paths.shown(paths.stub(exercise.folder)), "dim", no_wrap=True), bar(exercise), Text()]


def bar(shown: Exercise) -> Text:
    """One character for each exercise, by its state; the one that is shown stands out."""
    text, by_folder, passed = Text(no_wrap=True), progress.load(), 0
    for exercise in catalog.exercises():
        state = progress.state(exercise.folder, by_folder).status
        sign, style = BAR[state]
        text.append(*(("▮", f"bold {style}") if exercise == shown else (sign, style)))
        passed += state == "passed"
    return text.append(f"  {passed} of {len(catalog.exercises())} passed", "dim")


def hints(watched: Watched) -> Iterable[RenderableType]:
    """The hint for the task that is shown, and below it an empty line."""
    if hint := watched.hint:
        title = f"Hint {hint.place} for task {hint.task}: " if hint.stage else f"Hint {hint.place}: "
        yield Padding(Text.assemble((title, "yellow"), formulas.as_text(hint.text)), (0, 0, 1, 0))


def points(watched: Watched) -> Iterable[RenderableType]:
    """The points, which stay in sight."""
    result = watched.result
    if result is not None and result.started:
        text, style = terminal.heading(result)
        yield Text.assemble((text.partition(" · ")[2], style), (f" · {watched.when} · seed {result.seed}", "dim"))


def yellow(*texts: str) -> list[Text]:
    """Messages besides the verdict."""
    return [Text(text, "yellow") for text in texts if text]


def verdict(watched: Watched, width: int) -> Iterable[RenderableType]:
    """The verdict as `make check` shows it, or with every check."""
    result = watched.result
    if result is None:
        return
    if not result.started:
        yield Text("Not started: read the lesson (o), replace a `raise NotImplementedError` with your code, and save.")
        return
    _, *lines = terminal.render(result, width, watched.every)  # the points are at the foot
    for text, style in dropwhile(lambda line: line == ("", ""), lines):
        yield Text(text, style, no_wrap=True, overflow="ellipsis")
    if result.tried and result.status != PASSED and not watched.every:
        yield Text("a: show all", "dim")
    if result.status == PASSED:
        folder = watched.exercise.folder
        yield from (Text(line, "green") for line in ending.lines(folder))
        if ending.proof(folder):
            yield Text("w: watch it learn here", "green")
        if following := ending.open_exercise(folder):
            yield Text(f"n: on to {following.folder[:2]} {following.title}", "green")
        yield Text(f"s: the reference beside yours, and what to notice · make experiment EX={folder[:2]}", "dim")


class Screen:
    """Draws pages, each with its foot at the bottom. What is longer than the terminal scrolls."""

    def __init__(self, console: Console) -> None:
        self.console = console
        console.push_theme(Theme({"markdown.code": "cyan"}))  # no background: terminals are dark or light
        self.has_drawn = False
        self.pager = Pager()
        self.foot: list[str] = []

    def draw(self, parts: Iterable[RenderableType], foot: Iterable[RenderableType]) -> None:
        """Show the page instead of the one before."""
        self.foot = self.lines(foot)
        self.write(self.lines(parts))

    def write(self, lines: Sequence[str] | None = None) -> None:
        """Show the part of the page that is to be seen, in one write, so that it does not flicker.

        lines: those of another page.
        """
        pager = self.pager
        pager.show(pager.lines if lines is None else lines, self.console.height - len(self.foot))
        words = Text(f"{pager.position} · {SCROLLING}", "dim", no_wrap=True, overflow="ellipsis")
        screen_lines = [*pager.visible(), *(self.lines([words]) if pager.position else []), *self.foot]
        scrolled = "" if self.has_drawn else "\n" * self.console.height  # keeps what the terminal showed before
        text = f"{scrolled}\x1b[H" + "\x1b[K\n".join(screen_lines) + "\x1b[K\x1b[J"
        self.has_drawn = True
        self._send(text)

    def close(self) -> None:
        """Leave the last page in sight, and the cursor on a line of its own for the shell."""
        if self.has_drawn:
            self._send(f"\x1b[{self.console.height};1H\n")

    def _send(self, text: str) -> None:
        with contextlib.suppress(OSError):  # the window was closed, which the keyboard reports
            self.console.file.write(text)
            self.console.file.flush()

    def lines(self, parts: Iterable[RenderableType]) -> list[str]:
        """The parts as lines with escape codes, in the terminal's width."""
        with self.console.capture() as captured:
            for part in parts:
                self.console.print(part, crop=False)
        return captured.get().removesuffix("\n").split("\n") if captured.get() else []

    def main(self, watched: Watched, messages: Iterable[str], keys: Text) -> None:
        """Draw the main page. The task's text gets the lines that the other parts leave free."""
        above, below = heading(watched.exercise), [*hints(watched), *verdict(watched, self.console.width)]
        foot = [*points(watched), *yellow(*messages), keys]
        room = self.console.height - len(self.lines([*above, *below, *foot])) - 2
        self.draw([*above, *self.task(watched, room), *below], foot)

    def task(self, watched: Watched, room: int) -> list[RenderableType]:
        """The current task, with its text from the lesson. room: the lines that it may take."""
        task = watched.task
        if task is None:
            return []
        least, most = LESSON_LINES
        title = Text.assemble((f"Task {task.number}  ", "dim"), (task.title.replace("`", ""), "bold"))
        if room < least + 3 and watched.result is not None:  # the verdict is read now, and the text before
            return [title, Text()] if room > 1 else []
        page = self.lines([Padding(lesson.render(task.text), (0, 0, 0, 2))])
        lines = [line for line in page if Text.from_ansi(line).plain.strip()]
        count = max(least, min(room - 2, most))
        more = [Text("  … more in the lesson (o)", "dim")] if len(lines) > count else []
        return [title, Text.from_ansi("\n".join(lines[:count]), no_wrap=True), *more, Text()]


def step(key: str, page: int, whole: int) -> int:
    """By how many lines a key goes down, 0 where it does not scroll. page: those of a screen; whole: all of them."""
    return {UP: -1, DOWN: 1, PAGE_UP: -page, PAGE_DOWN: page, " ": page, HOME: -whole, END: whole}.get(key, 0)


@dataclass
class Pager:
    """The lines of a page (with escape codes), the first one that is seen, and how many are seen."""

    lines: Sequence[str] = ()
    top: int = 0
    room: int = 1

    @property
    def position(self) -> str:
        """The visible lines in words, where the page is longer than what is seen of it."""
        last = min(self.top + self.room, len(self.lines))
        return f"lines {self.top + 1} to {last} of {len(self.lines)}" if len(self.lines) > self.room else ""

    def show(self, lines: Sequence[str], room: int) -> None:
        """Take other lines, and stay where it was: at the end, where it was there and the page has grown.

        room: lines of the terminal; what scrolls leaves one for its position.
        """
        was_at_end = self.top > 0 and self.top + self.room >= len(self.lines)
        self.lines, self.room = lines, max(1, room - (len(lines) > room))
        self._go(len(lines) if was_at_end else self.top)

    def reveal(self, number: int) -> bool:
        """Scroll as little as is needed to show a line. Returns whether it has scrolled."""
        before = self.top
        if not self.top <= number < self.top + self.room:
            self._go(number if number < self.top else number - self.room + 1)
        return self.top != before

    def press(self, key: str) -> bool:
        """Scroll. Returns whether the key is one that scrolls."""
        by = step(key, max(1, self.room - 1), len(self.lines))
        self._go(self.top + by)
        return by != 0

    def visible(self) -> Sequence[str]:
        """The lines that are seen, and empty ones below a short page."""
        return [*self.lines[self.top : self.top + self.room], *[""] * (self.room - len(self.lines))]

    def _go(self, top: int) -> None:
        self.top = max(0, min(top, len(self.lines) - self.room))


class Events:
    """A queue of events: keys of the terminal, signals, and what threads `put`.

    As a context manager it switches the terminal to single keys without echo, and restores it at the end.
    Raises WrongUse where there is no terminal.
    """

    def __init__(self) -> None:
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise WrongUse("The watch needs a terminal. Without one, grade once: make check")
        self.input = sys.stdin.fileno()
        self.waiting: deque[tuple[str, Any]] = deque()
        self.wake_reader, self.wake_writer = os.pipe()  # `put` writes to it, so that `next` stops waiting
        os.set_blocking(self.wake_writer, False)

    def put(self, kind: str, value: object = None) -> None:
        """Add an event, from any thread or signal handler."""
        self.waiting.append((kind, value))
        with contextlib.suppress(BlockingIOError, OSError):  # a full pipe wakes `next` too
            os.write(self.wake_writer, b".")

    def next(self, seconds: float | None) -> tuple[str, Any] | None:
        """The next event as (kind, value), ("key", "n") for a key; None after `seconds` without one."""
        while not self.waiting:
            ready, _, _ = select.select([self.input, self.wake_reader], [], [], seconds)
            if not ready:
                return None
            if self.wake_reader in ready:
                os.read(self.wake_reader, 4096)
            if self.input in ready:
                self._read()
        return self.waiting.popleft()

    def __enter__(self) -> Events:
        self.settings = termios.tcgetattr(self.input)
        self._switch_to_keys()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda *_: self.put(QUIT))
        signal.signal(signal.SIGWINCH, lambda *_: self.put(RESIZED))
        signal.signal(signal.SIGCONT, self._resume)
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(termios.error):
            termios.tcsetattr(self.input, termios.TCSANOW, self.settings)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)  # the rest of the program is short, and must not be interrupted
        for number in (signal.SIGWINCH, signal.SIGCONT):
            signal.signal(number, signal.SIG_DFL)

    def _read(self) -> None:
        """Add the keys that were typed."""
        try:
            typed = os.read(self.input, 64)
        except OSError:
            typed = b""  # hung up
        if not typed:
            self.put(QUIT)
        self.waiting += [("key", key) for key in read_keys(typed.decode(errors="ignore"))]

    def _switch_to_keys(self) -> None:
        with contextlib.suppress(termios.error):
            tty.setcbreak(self.input)

    def _resume(self, *_: object) -> None:
        self._switch_to_keys()  # after Ctrl-Z: the shell has used the terminal with its own settings
        self.put(RESUMED)


def read_keys(typed: str) -> list[str]:
    """The keys in what a terminal sent: "n", "page down". Keys that mean nothing here are left out."""
    pressed = []
    for match in TYPED.finditer(typed):
        character = match["character"]
        key = KEY_NAMES.get(match["sequence"]) if character is None else PLAIN_KEYS.get(character, character.lower())
        pressed += [key] if key else []
    return pressed
