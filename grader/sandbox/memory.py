"""How much memory a process has taken at most, as the system tells others: nothing that the process says is asked."""

import re
import subprocess

MEBIBYTE = 1 << 20
MOST = re.compile(rb"VmHWM:\s*(\d+) kB")  # Linux keeps the largest resident memory of each process
PS_S = 2.0


class Meter:
    """Watches one process from outside. Where the system keeps no largest value, those of all looks are compared."""

    def __init__(self, pid: int):
        self.pid, self.most = pid, 0
        self.start = self.look()

    @property
    def growth(self) -> float | None:
        """MiB by which the process was larger at most than at first; None where the system does not tell."""
        return None if self.start is None else (self.most - self.start) / MEBIBYTE

    def look(self) -> int | None:
        """The bytes that are told now."""
        told = resident(self.pid)
        self.most = max(self.most, told or 0)
        return told


def resident(pid: int) -> int | None:
    """Bytes of physical memory: the most so far on Linux, those of this moment elsewhere; None where nobody tells."""
    try:
        with open(f"/proc/{pid:d}/status", "rb") as status:
            found = MOST.search(status.read())
        if found:
            return int(found[1]) << 10
    except OSError:
        pass
    return _asked_of_ps(pid)


def _asked_of_ps(pid: int) -> int | None:
    try:
        done = subprocess.run(["ps", "-o", "rss=", "-p", f"{pid:d}"], capture_output=True, timeout=PS_S, check=False)
        return int(done.stdout) << 10
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
