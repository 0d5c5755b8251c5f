"""What a worker may use: memory, processor time, files. Set inside the worker, after the fork."""

import ctypes
import os
import resource
import signal
import sys

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
MEGABYTE = 1 << 20


def apply(limits: dict) -> None:
    """Lower this process's limits.

    `limits`: memory_mb above what the process has now (None on CUDA, which maps far more than it
    uses), cpu_s, open_files.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a write then fails with an OSError instead
    cpu = limits["cpu_s"]
    resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 1))
    files = limits["open_files"]
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    if limits["memory_mb"] is not None and sys.platform == "linux":
        with open("/proc/self/statm") as statm:
            now = int(statm.read().split()[0]) * resource.getpagesize()
        size = now + limits["memory_mb"] * MEGABYTE
        resource.setrlimit(resource.RLIMIT_AS, (size, size))


def die_with_parent(parent: int) -> None:
    """End this process when the one that forked it ends, however that ends."""
    if sys.platform == "linux":
        _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)


def adopt_orphans() -> None:
    """Make orphaned grandchildren this process's children, so that it can end them."""
    if sys.platform == "linux":
        _prctl(PR_SET_CHILD_SUBREAPER, 1)


def _prctl(option: int, value: int) -> None:
    if ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")
