"""A user at a real terminal: starts a program in a pty, types, resizes, and reads what the screen shows."""

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
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")
WATCH = [sys.executable, "-m", "grader", "watch"]


class AtTerminal:
    """One program in one terminal. The program leads its own session, as in a terminal window."""

    def __init__(self, command: list[str], folder: Path, rows: int = 24, columns: int = 80, **environment: str):
        self.ours, theirs = pty.openpty()
        kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}  # as pytest's
        self.resize(rows, columns)
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            env={**kept, "TERM": "xterm-256color", "PYTHONDONTWRITEBYTECODE": "1", **environment},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        self.theirs = theirs  # kept open, so that its settings can be asked for
        self.raw, self.arrived, self.closed = "", threading.Condition(), False
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    @property
    def transcript(self) -> str:
        """All that was ever written, without escape codes."""
        return ESCAPES.sub("", self.raw)

    @property
    def screen(self) -> str:
        """The page that was drawn last, if it is complete; else the one before."""
        pages = [page for page in self.raw.split("\x1b[H") if "\x1b[J" in page]
        return ESCAPES.sub("", pages[-1]) if pages else ""

    def shows(self, *texts: str, seconds: float = 60) -> str:
        """Wait until the screen shows all texts; gives the screen."""

        def found() -> str | None:
            screen = self.screen
            words = " ".join(screen.split())  # a sentence may be wrapped
            return screen if all(text in screen or text in words for text in texts) else None

        return self._wait(found, texts, seconds)

    def says(self, text: str, after: int = 0, seconds: float = 60) -> int:
        """Wait until the text was written, at `after` of the transcript or later; gives where it ends."""
        found = self._wait(lambda: self.transcript.find(text, after) + 1 or None, (text,), seconds)
        return found - 1 + len(text)

    def type(self, keys: str) -> None:
        os.write(self.ours, keys.encode())

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self.ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    @property
    def echoes(self) -> bool:
        """Whether the terminal shows what is typed, line by line: how a shell wants to find it."""
        local = termios.tcgetattr(self.theirs)[3]
        return bool(local & termios.ECHO and local & termios.ICANON)

    def ends(self, seconds: float = 20) -> int:
        return self.process.wait(timeout=seconds)

    def close(self) -> None:
        """Close the window."""
        os.close(self.theirs)
        self.closed = True
        self.reader.join()  # a terminal that somebody reads is not closed yet
        os.close(self.ours)
        if self.process.poll() is None:
            try:
                self.process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait(timeout=5)

    def _wait(self, found, wanted, seconds):
        until = time.monotonic() + seconds
        with self.arrived:
            while (result := found()) is None:
                left = until - time.monotonic()
                assert left > 0, f"not seen in {seconds} s: {wanted}\n--- the screen:\n{self.screen or self.transcript}"
                self.arrived.wait(min(left, 1))
        return result

    def _read(self) -> None:
        pending = b""
        while not self.closed:
            if not select.select([self.ours], [], [], 0.1)[0]:
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
    """A copy of what a learner has, to work in."""
    for name in ("exercises", "solutions", "grader"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "Makefile", folder)
    return folder
