"""The events of a terminal: single keys, a new size, Ctrl-Z and hang-up."""

import contextlib
import os
import re
import select
import signal
import sys
from collections import deque

try:
    import termios
    import tty
except ImportError:  # Windows without WSL
    termios = tty = None

from grader.catalog.errors import WrongUse
from grader.desk import pager

RESIZED, RESUMED, QUIT, SAVED, GRADED, DRAWN = "resized", "resumed", "quit", "saved", "graded", "drawn"
ESCAPE, ENTER, BACKSPACE = "escape", "enter", "backspace"
NAMES = {
    "[A": pager.UP, "OA": pager.UP, "[B": pager.DOWN, "OB": pager.DOWN, "[5~": pager.PAGE_UP, "[6~": pager.PAGE_DOWN,
    "[H": pager.HOME, "OH": pager.HOME, "[1~": pager.HOME, "[7~": pager.HOME,
    "[F": pager.END, "OF": pager.END, "[4~": pager.END, "[8~": pager.END,
    "": ESCAPE,
}  # fmt: skip
PLAIN = {"\r": ENTER, "\n": ENTER, "\x7f": BACKSPACE, "\b": BACKSPACE}
TYPED = re.compile(r"\x1b(?P<sequence>\[[0-9;?]*[A-Za-z~]|O[A-Za-z]|)|(?P<character>.)", re.S)


class Events:
    """A queue of events: keys of the terminal, signals, and what threads `put`.

    As a context manager it switches the terminal to single keys without echo, and restores it at the end.
    Raises WrongUse where there is no terminal.
    """

    def __init__(self) -> None:
        if termios is None or not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise WrongUse("make watch needs a terminal. Without one, grade once: make check EX=03")
        self.input = sys.stdin.fileno()
        self.waiting: deque[tuple[str, object]] = deque()
        self.wake_reader, self.wake_writer = os.pipe()  # `put` writes to it, so that `next` stops waiting
        os.set_blocking(self.wake_writer, False)

    def put(self, kind: str, value: object = None) -> None:
        """Add an event, from any thread or signal handler."""
        self.waiting.append((kind, value))
        with contextlib.suppress(BlockingIOError, OSError):  # a full pipe wakes `next` too
            os.write(self.wake_writer, b".")

    def next(self, seconds: float | None) -> tuple[str, object] | None:
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

    def __enter__(self) -> "Events":
        self.settings = termios.tcgetattr(self.input)
        self._switch_to_keys()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda *_: self.put(QUIT))
        signal.signal(signal.SIGWINCH, lambda *_: self.put(RESIZED))
        signal.signal(signal.SIGCONT, self._resume)
        return self

    def __exit__(self, *_: object) -> None:
        self._restore()
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
        self.waiting += [("key", key) for key in keys(typed.decode(errors="ignore"))]

    def _switch_to_keys(self) -> None:
        with contextlib.suppress(termios.error):
            tty.setcbreak(self.input)

    def _restore(self) -> None:
        with contextlib.suppress(termios.error):
            termios.tcsetattr(self.input, termios.TCSANOW, self.settings)

    def _resume(self, *_: object) -> None:
        self._switch_to_keys()  # after Ctrl-Z: the shell has used the terminal with its own settings
        self.put(RESUMED)


def keys(typed: str) -> list[str]:
    """The keys in what a terminal sent: "n", "page down". Keys that mean nothing here are left out."""
    pressed = []
    for match in TYPED.finditer(typed):
        character = match["character"]
        key = NAMES.get(match["sequence"]) if character is None else PLAIN.get(character, character.lower())
        pressed += [key] if key else []
    return pressed
