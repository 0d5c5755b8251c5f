"""System calls that Python has no name for, made through the C library."""

import contextlib
import ctypes
import errno
import functools
import os

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # of glibc's mallopt
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 4, 36, 38


@functools.cache
def library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def call(number: int, *arguments) -> int:
    """One system call. Raises OSError with the kernel's own reason."""
    words = [ctypes.c_long(argument) if isinstance(argument, int) else argument for argument in arguments]
    result = library().syscall(ctypes.c_long(number), *words)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def prctl(option: int, value: int, pointer=0) -> None:
    """Raises OSError where the kernel knows no such option or refuses it."""
    if not hasattr(library(), "prctl"):
        raise OSError(errno.ENOSYS, "no prctl on this system")
    words = (ctypes.c_ulong(value), pointer or ctypes.c_ulong(0), ctypes.c_ulong(0), ctypes.c_ulong(0))
    if library().prctl(ctypes.c_int(option), *words) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def give_back_blocks(size: int) -> None:
    """From now on every block of memory of this many bytes goes back to the system as soon as it is free."""
    if hasattr(library(), "mallopt"):  # glibc; other libraries give large blocks back anyway
        for option in (M_MMAP_THRESHOLD, M_TRIM_THRESHOLD):
            library().mallopt(ctypes.c_int(option), ctypes.c_int(size))


def keep_out() -> None:
    """No other process of the same user may read this one's memory or stop it as a debugger does."""
    with contextlib.suppress(OSError, AttributeError, TypeError):  # Linux alone has this
        prctl(PR_SET_DUMPABLE, 0)
