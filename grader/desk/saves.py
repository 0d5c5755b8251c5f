"""Reports when a file below a folder was saved, by file events or by polling, and reads it once it is whole.

An event is only a reason to read the file: its content decides. So events may come twice, late or for another file,
and where none come, polling has the same effect. Some editors write in pieces, some write another file and rename it,
some delete the old one first. So content that is absent, empty or broken is accepted only once it has been stable for a
moment. A piece that happens to be valid Python is graded, and its verdict is replaced by that on the complete file.
"""

import contextlib
import platform
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from grader.catalog import Exercise, paths
from grader.catalog.errors import BadSubmission, NoSuchFile
from grader.records import submission
from grader.records.source import parses
from grader.records.submission import Submission, Unreadable

STEP_MS, GROUP_MS = 5, 50  # events less than STEP_MS apart count as one save, for GROUP_MS at most
POLL_S = 0.2  # seconds between two reads where there are no events
FALLBACK_S = 2.0  # seconds between two reads where there are events, since an unknown drive may send none
NETWORK = (
    "nfs", "cifs", "smb", "9p", "afs", "ceph", "gluster", "lustre", "drvfs", "vboxsf", "prl_fs", "virtiofs",
    "fuse", "fakeowner", "gpfs", "beegfs", "davfs", "ncpfs", "osxfs",
)  # fmt: skip
INSTALL = "pip install watchfiles"
SETTLE_S = 0.12  # seconds for which doubtful content must be stable


class Saves:
    """Calls `notify()` from a thread of its own after every save below `folder`, until closed.

    pause: seconds after which the file should be read in any case; note: what the learner should know, or "".
    """

    def __init__(self, folder: Path, notify: Callable[[], None], poll: bool = False) -> None:
        self.folder, self.notify = folder, notify
        self.pause, self.note = POLL_S, ""
        self.stop = threading.Event()
        reason = "POLL=1" if poll else must_poll(folder, platform.release(), _mounts())
        if reason:
            self.note = f"Looks at the file {1 / POLL_S:.0f} times a second ({reason})."
            return
        try:
            import watchfiles
        except ImportError:
            self.note = f"Looks at the file {1 / POLL_S:.0f} times a second. Quicker: {INSTALL}"
            return
        self.watchfiles, self.pause = watchfiles, FALLBACK_S
        threading.Thread(target=self._listen, daemon=True).start()

    def close(self) -> None:
        """End the thread that listens."""
        self.stop.set()

    def _listen(self) -> None:
        with contextlib.suppress(Exception):  # the system may have no watches left
            changes = self.watchfiles.watch(
                self.folder,
                watch_filter=None,
                debounce=GROUP_MS,
                step=STEP_MS,
                stop_event=self.stop,
                force_polling=False,
                raise_interrupt=False,
            )
            for _ in changes:
                self.notify()
        if not self.stop.is_set():
            self.pause = POLL_S
            self.notify()


def must_poll(folder: Path, release: str, mounts: str) -> str:
    """Why file events cannot be trusted for this folder, or "" where they can.

    release: the kernel's; mounts: as in /proc/mounts.
    """
    if "microsoft" in release.lower():
        return "WSL"
    kind = _file_system(folder.resolve(), mounts)
    return f"a drive of the kind {kind}" if kind.startswith(NETWORK) else ""


@dataclass(frozen=True)
class Content:
    """The content of the file."""

    handed_in: Submission | Unreadable
    is_there: bool = True

    @property
    def may_be_partial(self) -> bool:
        """Whether an editor may still be writing this content."""
        try:
            return isinstance(self.handed_in, Unreadable) or not parses(self.handed_in.source)
        except BadSubmission:
            return False


class StableFile:
    """The file of one exercise.

    accepted: the content that was accepted last; doubtful: content that must still prove stable, and since when it is
    there (seconds of time.monotonic).
    """

    def __init__(self, exercise: Exercise) -> None:
        self.path = paths.stub(exercise.folder)
        self.accepted: Content | None = None
        self.doubtful: tuple[float, Content] | None = None

    @property
    def source(self) -> str:
        """The code of the accepted content, "" where there is none."""
        handed_in = self.accepted.handed_in if self.accepted else None
        return handed_in.source if isinstance(handed_in, Submission) else ""

    @property
    def is_settling(self) -> bool:
        """Whether doubtful content is waiting to be accepted."""
        return self.doubtful is not None

    def read_new(self, settle: bool = True) -> Content | None:
        """New content of the file, or None. settle: wait until content that may be partial is stable."""
        content = read_content(self.path)
        if content == self.accepted:
            self.doubtful = None
            return None
        now = time.monotonic()
        if settle and content.may_be_partial:
            if self.doubtful is None or self.doubtful[1] != content:
                self.doubtful = now, content
            if now - self.doubtful[0] < SETTLE_S:
                return None
        self.accepted, self.doubtful = content, None
        return content


def read_content(path: Path) -> Content:
    """The present content of a file."""
    name = paths.shown(path)
    try:
        return Content(submission.attempt(partial(submission.read, path), name))
    except NoSuchFile as error:
        return Content(submission.Unreadable(name, str(error)), is_there=False)


def _file_system(folder: Path, mounts: str) -> str:
    """The kind of the drive that holds the folder: of the last, longest mount point above it."""
    best, kind = -1, ""
    for line in mounts.splitlines():
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        point = Path(fields[1].replace("\\040", " "))
        if (point == folder or point in folder.parents) and len(point.parts) >= best:
            best, kind = len(point.parts), fields[2]
    return kind


def _mounts() -> str:
    try:
        return Path("/proc/mounts").read_text("utf-8", errors="replace")
    except OSError:
        return ""
