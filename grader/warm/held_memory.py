"""How much memory there is, and how much some processes hold."""

import os
from collections.abc import Iterable
from pathlib import Path

LEAST = 512 << 20  # bytes that must be left for others
GROUPS = Path("/sys/fs/cgroup")


def is_short() -> bool:
    """Whether others could want the memory that this process holds. False where the system does not say."""
    return any(left < LEAST for left in (*_of_machine(), *_of_group()))


def held(pids: Iterable[int]) -> int:
    """The megabytes that processes hold beside the files that they map, which the system can drop at any time."""
    pages = 0
    for pid in pids:
        try:
            _, resident, shared, *_ = map(int, Path(f"/proc/{pid}/statm").read_text().split())
            pages += resident - shared
        except (OSError, ValueError):
            continue
    return pages * os.sysconf("SC_PAGESIZE") >> 20


def _of_machine() -> list[int]:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return [int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:")]
    except (OSError, ValueError):
        return []


def _of_group() -> list[int]:
    """What a container, or another group of processes, may still take: files that it has cached count as free."""
    try:
        group = Path("/proc/self/cgroup").read_text().strip().splitlines()[-1].partition("::")[2]
        folder = GROUPS / group.lstrip("/")
        most = int((folder / "memory.max").read_text())
        facts = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
        return [most - int((folder / "memory.current").read_text()) + int(facts["file"])]
    except (OSError, ValueError, KeyError, IndexError):
        return []
