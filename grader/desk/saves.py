"""Reports when a file below a folder was saved, by the system's file events or by polling.

An event is only a reason to read the file: its content decides. So events may come twice, late or for another file,
and where none come, polling has the same effect.
"""

import contextlib
import platform
import threading
from collections.abc import Callable
from pathlib import Path

STEP_MS, GROUP_MS = 5, 50  # events less than STEP_MS apart count as one save, for GROUP_MS at most
POLL_S = 0.2  # seconds between two reads where there are no events
FALLBACK_S = 2.0  # seconds between two reads where there are events, since an unknown drive may send none
NETWORK = ("nfs", "cifs", "smb", "9p", "afs", "ceph", "gluster", "lustre", "drvfs", "vboxsf", "prl_fs", "virtiofs")
NETWORK += ("fuse", "fakeowner", "gpfs", "beegfs", "davfs", "ncpfs", "osxfs")
INSTALL = "pip install watchfiles"


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
