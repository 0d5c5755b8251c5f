"""Measures the largest memory that a process has used. The numbers are the system's, never the process's own."""

import re
import subprocess

MEBIBYTE = 1 << 20
PEAK = re.compile(rb"VmHWM:\s*(\d+) kB")  # Linux keeps the largest resident memory of each process
NOW = re.compile(rb"VmRSS:\s*(\d+) kB")
PS_S = 2.0


class Meter:
    """Measures one process from outside. Where the system keeps no peak value, the largest measurement counts."""

    def __init__(self, pid: int):
        self.pid, self.most = pid, 0
        self.start = self.look()

    @property
    def growth(self) -> float | None:
        """The difference in MiB between the largest and the first measurement; None where the system gives none."""
        return None if self.start is None else (self.most - self.start) / MEBIBYTE

    def look(self) -> int | None:
        """Measure now. Returns bytes, as `resident` does."""
        size = resident(self.pid)
        self.most = max(self.most, size or 0)
        return size


def resident(pid: int, measure: re.Pattern[bytes] = PEAK) -> int | None:
    """Bytes of physical memory: the peak so far on Linux, the current value elsewhere; None where there is none.

    measure: PEAK, or NOW for the current value on Linux too.
    """
    try:
        with open(f"/proc/{pid:d}/status", "rb") as status:
            found = measure.search(status.read())
        if found:
            return int(found[1]) << 10
    except OSError:
        pass
    return _resident_by_ps(pid)


def _resident_by_ps(pid: int) -> int | None:
    try:
        process = subprocess.run(["ps", "-o", "rss=", "-p", f"{pid:d}"], capture_output=True, timeout=PS_S, check=False)
        return int(process.stdout) << 10
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
