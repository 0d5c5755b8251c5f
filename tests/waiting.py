"""Waits for what comes soon, and looks for processes by their ids, as Linux has them."""

import time
from collections.abc import Callable
from pathlib import Path


def soon(is_so: Callable[[], object], seconds: float = 60) -> bool:
    """Whether it is so within these seconds."""
    deadline = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def runs(pid: int) -> bool:
    """Whether a process runs. What init has not buried yet does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def gone(*pids: int, seconds: float = 60) -> bool:
    """Whether none of these processes runs any more, soon."""
    return soon(lambda: not any(map(runs, pids)), seconds)
