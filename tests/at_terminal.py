"""A user at a real terminal: starts a program in a pty, types, resizes, and reads the screen."""

import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from copies import copy

ROOT = Path(__file__).resolve().parent.parent
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")
WATCH = [sys.executable, "-m", "grader", "start"]
# What a learner types comes neither from CI nor from another make: words before it, and the environment.
BY_HAND = ("env", "-u", "CI", "-u", "MAKELEVEL", "-u", "MAKEFLAGS")
OUTSIDE = {name: value for name, value in os.environ.items() if not name.startswith("MAKE") and name != "CI"}


class AtTerminal:
    """One program in one terminal. The program leads its own session, as in a terminal window."""

    def __init__(self, command: list[str], folder: Path, rows: int = 24, columns: int = 80, **environment: str) -> None:
        self.ours, theirs = pty.openpty()
        inherited = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
        self.resize(rows, columns)
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            env={**inherited, "TERM": "xterm-256color", "PYTHONDONTWRITEBYTECODE": "1", **environment},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        self.theirs = theirs  # stays open, so that `echoes` can read its settings
        self.raw, self.arrived, self.closed = "", threading.Condition(), False
        self.silences = 0  # how often nothing was there to read
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    @property
    def transcript(self) -> str:
        """All text that the program has written, without escape codes."""
        return ESCAPES.sub("", self.raw)

    @property
    def screen(self) -> str:
        """The last page that was drawn as a whole."""
        pages = [page for page in self.raw.split("\x1b[H") if "\x1b[J" in page]
        return ESCAPES.sub("", pages[-1]) if pages else ""

    def shows(self, *texts: str, seconds: float = 60) -> str:
        """Wait until the screen shows all texts. Returns the screen."""

        def matching_screen() -> str | None:
            screen = self.screen
            words = " ".join(screen.split())  # a sentence may be wrapped
            return screen if all(text in screen or text in words for text in texts) else None

        return self._wait(matching_screen, texts, seconds)

    def says(self, text: str, after: int = 0, seconds: float = 60) -> int:
        """Wait until the text stands at `after` of the transcript or later. Returns the place of its end."""
        place = self._wait(lambda: self.transcript.find(text, after) + 1 or None, (text,), seconds)
        return place - 1 + len(text)

    def type(self, keys: str) -> None:
        os.write(self.ours, keys.encode())

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self.ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    @property
    def echoes(self) -> bool:
        """Whether the terminal echoes what is typed and reads whole lines, as a shell expects it."""
        local = termios.tcgetattr(self.theirs)[3]
        return bool(local & termios.ECHO and local & termios.ICANON)

    def ends(self, seconds: float = 20) -> int:
        """Wait for the end of the program, and for what it wrote last. Returns its exit code."""
        code = self.process.wait(timeout=seconds)
        with self.arrived:
            before = self.silences
            self.arrived.wait_for(lambda: self.silences > before + 1 or not self.reader.is_alive(), 5)
        return code

    def __enter__(self) -> "AtTerminal":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the window, unless it is closed."""
        if self.closed:
            return
        os.close(self.theirs)
        self.closed = True
        self.reader.join()  # while a thread reads the terminal, it is not closed
        os.close(self.ours)
        if self.process.poll() is None:
            try:
                self.process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait(timeout=5)

    def _wait(self, find: Callable[[], Any], texts: tuple[str, ...], seconds: float) -> Any:
        """Call find() after each new text until it returns something else than None, and return that."""
        deadline = time.monotonic() + seconds
        with self.arrived:
            while (result := find()) is None:
                remaining = deadline - time.monotonic()
                assert remaining > 0, (
                    f"not seen in {seconds} s: {texts}\n--- the screen:\n{self.screen or self.transcript}"
                )
                self.arrived.wait(min(remaining, 1))
        return result

    def _read(self) -> None:
        pending = b""
        while not self.closed:
            if not select.select([self.ours], [], [], 0.1)[0]:
                with self.arrived:
                    self.silences += 1
                    self.arrived.notify_all()
                continue
            try:
                pending += os.read(self.ours, 65536)
            except OSError:
                return
            text = pending.decode(errors="ignore")
            pending = b"" if not pending or text.encode() == pending else pending[len(text.encode()) :]
            with self.arrived:
                self.raw += text
                self.arrived.notify_all()


def checkout(folder: Path) -> Path:
    """A copy of the project in a folder, to work in. Returns the folder."""
    copy(folder, "exercises", "grader", "solutions")
    shutil.copy(ROOT / "Makefile", folder)
    return folder
