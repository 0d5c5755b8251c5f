"""The events of a terminal: single keys, and that it is resized, stopped or hung up."""

import contextlib
import os
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

RESIZED, RESUMED, QUIT, SAVED, GRADED = "resized", "resumed", "quit", "saved", "graded"


class Events:
    """A queue of events: keys of the terminal, signals, and what threads `put`.

    As a context manager it switches the terminal to single keys without echo, and restores it at the end.
    Raises WrongUse where there is no terminal.
    """

    def __init__(self):
        if termios is None or not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise WrongUse("make watch needs a terminal. Without one, grade once: make check EX=03")
        self.input = sys.stdin.fileno()
        self.waiting: deque = deque()
        self.woken, self.wake = os.pipe()
        os.set_blocking(self.wake, False)

    def put(self, kind: str, value: object = None) -> None:
        """Add an event, from any thread or signal handler."""
        self.waiting.append((kind, value))
        with contextlib.suppress(BlockingIOError, OSError):  # full: it will wake anyway
            os.write(self.wake, b".")

    def next(self, seconds: float | None) -> tuple[str, object] | None:
        """The next event as (kind, value), ("key", "n") for a key; None after `seconds` without one."""
        while not self.waiting:
            ready, _, _ = select.select([self.input, self.woken], [], [], seconds)
            if not ready:
                return None
            if self.woken in ready:
                os.read(self.woken, 4096)
            if self.input in ready:
                self._read()
        return self.waiting.popleft()

    def __enter__(self) -> "Events":
        self.before = termios.tcgetattr(self.input)
        self._take()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda *_: self.put(QUIT))
        signal.signal(signal.SIGWINCH, lambda *_: self.put(RESIZED))
        signal.signal(signal.SIGCONT, self._resume)
        return self

    def __exit__(self, *exception) -> None:
        self._give_back()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)  # what follows is short, and must not be cut
        for number in (signal.SIGWINCH, signal.SIGCONT):
            signal.signal(number, signal.SIG_DFL)

    def _read(self) -> None:
        try:
            typed = os.read(self.input, 64)
        except OSError:
            typed = b""  # hung up
        if not typed:
            self.put(QUIT)
        elif len(typed) == 1 or not typed.startswith(b"\x1b"):  # arrows and the like are no keys of ours
            for character in typed.decode(errors="ignore"):
                self.waiting.append(("key", character.lower()))

    def _take(self) -> None:
        with contextlib.suppress(termios.error):
            tty.setcbreak(self.input)

    def _give_back(self) -> None:
        with contextlib.suppress(termios.error):
            termios.tcsetattr(self.input, termios.TCSANOW, self.before)

    def _resume(self, *_) -> None:
        self._take()  # after Ctrl-Z: the shell had the terminal meanwhile, in its own settings
        self.put(RESUMED)
