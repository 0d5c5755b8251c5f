"""What a process asks of the kernel for itself: system calls that Python does not offer, signals, and limits."""

import contextlib
import ctypes
import errno
import functools
import os
import resource
import signal
import sys

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # of glibc's mallopt
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 4, 36, 38
MEGABYTE = 1 << 20
# Where memory is measured, a freed block of this size is returned at once. Smaller ones, as tiles of attention are, are
# used again: a system call for each of them takes more time than the learner's arithmetic.
GIVEN_BACK = MEGABYTE


@functools.cache
def library() -> ctypes.CDLL:
    """The C library of this process."""
    return ctypes.CDLL(None, use_errno=True)


def call(number: int, *arguments) -> int:
    """Make the system call of this number and return its result. Raises OSError with the kernel's error number."""
    c_arguments = [ctypes.c_long(argument) if isinstance(argument, int) else argument for argument in arguments]
    result = library().syscall(ctypes.c_long(number), *c_arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def prctl(option: int, value: int, pointer=0) -> None:
    """Set an option of this process. Raises OSError where the kernel does not know the option or refuses it."""
    if not hasattr(library(), "prctl"):
        raise OSError(errno.ENOSYS, "no prctl on this system")
    none = ctypes.c_ulong(0)
    if library().prctl(option, ctypes.c_ulong(value), pointer or none, none, none) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def keep_out() -> None:
    """Forbid other processes of the same user to read this process's memory or to attach to it as a debugger does."""
    with contextlib.suppress(OSError, AttributeError, TypeError):  # only Linux has this option
        prctl(PR_SET_DUMPABLE, 0)


def set_signals() -> None:
    """Set how signals act on this process, which all forks inherit."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a write that is too large fails with an OSError instead
    signal.signal(signal.SIGALRM, signal.SIG_IGN)  # until a source is loaded; see submitted_source.Clock


def apply_limits(limits: dict, size: int | None = None, file_bytes: int = 0) -> None:
    """Lower this process's limits.

    limits: `memory_mb` beyond `size` (None on CUDA, which maps far more memory than it uses), `cpu_s`, `open_files`,
    `processes` that it may start (None: as many as the user may), and `measured`, whether its memory will be measured,
    so that freed memory must be returned to the system. size: the bytes that the process maps now; None where that is
    unknown, and then its address space is not limited. file_bytes: how long a file that it writes may become.
    """
    if limits["measured"] and hasattr(library(), "mallopt"):  # glibc; other C libraries return large blocks anyway
        for option in (M_MMAP_THRESHOLD, M_TRIM_THRESHOLD):
            library().mallopt(option, GIVEN_BACK)
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
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)


def adopt_orphans() -> None:
    """Make orphaned grandchildren children of this process, so that it can end them. Has an effect on Linux only."""
    if sys.platform == "linux":
        prctl(PR_SET_CHILD_SUBREAPER, 1)


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
