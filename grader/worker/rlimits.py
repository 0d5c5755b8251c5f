"""What a worker may use: memory, processor time, files. Set inside the worker, after the fork."""

import contextlib
import os
import resource
import signal
import sys

from .lockdown import kernel

MEGABYTE = 1 << 20


def apply(limits: dict, size: int | None = None) -> None:
    """Lower this process's limits.

    `limits`: memory_mb above `size`, what the process takes now (None on CUDA, which maps far more
    than it uses), cpu_s, open_files, processes (those it may start; None: as many as the user may), measured (whether
    its memory is going to be measured: then what is free is given back, since it would count).
    """
    if limits["measured"]:
        kernel.give_back_blocks(MEGABYTE)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a write then fails with an OSError instead
    _lower("CORE", 0)
    _lower("FSIZE", 0)
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
    """The bytes this process has mapped; None where the system does not tell, or does not limit them."""
    try:
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[0]) * resource.getpagesize()
    except OSError:
        return None


def die_with_parent(parent: int) -> None:
    """End this process when the one that forked it ends, however that ends."""
    if sys.platform == "linux":
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)


def adopt_orphans() -> None:
    """Make orphaned grandchildren this process's children, so that it can end them."""
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
    else:  # other systems take part of these; what they refuse is named in SECURITY.md
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(number, (soft, hard))
