"""Limits of a worker's memory, processor time and files, which it sets for itself after the fork."""

import contextlib
import os
import resource
import signal
import sys

from .lockdown import kernel

MEGABYTE = 1 << 20
# Where memory is measured, a freed block of this size is returned at once. Smaller ones, as tiles of attention are, are
# used again: a system call for each of them takes more time than the learner's arithmetic.
GIVEN_BACK = MEGABYTE


def set_signals() -> None:
    """Set how signals act on this process, which all forks inherit."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a write that is too large fails with an OSError instead
    signal.signal(signal.SIGALRM, signal.SIG_IGN)  # until a source is loaded; see loading.Clock


def apply(limits: dict, size: int | None = None, file_bytes: int = 0) -> None:
    """Lower this process's limits.

    limits: `memory_mb` beyond `size` (None on CUDA, which maps far more memory than it uses), `cpu_s`, `open_files`,
    `processes` that it may start (None: as many as the user may), and `measured`, whether its memory will be measured,
    so that freed memory must be returned to the system. size: the bytes that the process maps now; None where that is
    unknown, and then its address space is not limited. file_bytes: how long a file that it writes may become.
    """
    if limits["measured"]:
        kernel.give_back_blocks(GIVEN_BACK)
    _lower("CORE", 0)
    _lower("FSIZE", file_bytes)
    _lower("CPU", limits["cpu_s"], limits["cpu_s"] + 1)
    _lower("NOFILE", limits["open_files"])
    if limits["processes"] is not None:
        _lower("NPROC", limits["processes"])
    if limits["memory_mb"] is not None:
        _lower("MEMLOCK", 0)
        _lower("MSGQUEUE", 0)
        if size is not None:
            _lower("AS", size + limits["memory_mb"] * MEGABYTE)


def address_space() -> int | None:
    """The bytes that this process has mapped; None on a system without /proc."""
    try:
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[0]) * resource.getpagesize()
    except OSError:
        return None


def die_with_parent(parent: int) -> None:
    """End this process when its parent ends in any way; works on Linux only. parent: the parent's process id."""
    if sys.platform == "linux":
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)


def adopt_orphans() -> None:
    """Make orphaned grandchildren children of this process, so that it can end them. Has an effect on Linux only."""
    if sys.platform == "linux":
        kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)


def _lower(name: str, soft: int, hard: int | None = None) -> None:
    number = getattr(resource, f"RLIMIT_{name}", None)
    if number is None:
        return
    _, ceiling = resource.getrlimit(number)
    hard = soft if hard is None else hard
    if ceiling != resource.RLIM_INFINITY:
        soft, hard = min(soft, ceiling), min(hard, ceiling)
    if sys.platform == "linux":
        resource.setrlimit(number, (soft, hard))
    else:  # other systems have only some of these limits; SECURITY.md names the missing ones
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(number, (soft, hard))
