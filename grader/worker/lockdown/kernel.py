"""System calls that Python's standard library does not offer, made through the C library."""

import contextlib
import ctypes
import errno
import functools
import os

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # of glibc's mallopt
MADV_COLLAPSE, LARGE_PAGE = 25, 1 << 21
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 4, 36, 38


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
    c_arguments = (ctypes.c_ulong(value), pointer or ctypes.c_ulong(0), ctypes.c_ulong(0), ctypes.c_ulong(0))
    if library().prctl(ctypes.c_int(option), *c_arguments) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def give_back_blocks(size: int) -> None:
    """From now on return every block of memory of at least `size` bytes to the system as soon as it is free."""
    if hasattr(library(), "mallopt"):  # glibc; other C libraries return large blocks anyway
        for option in (M_MMAP_THRESHOLD, M_TRIM_THRESHOLD):
            library().mallopt(ctypes.c_int(option), ctypes.c_int(size))


def use_large_pages() -> None:
    """Move the memory of this process that no file backs into large pages, where whole ones of it are in use.

    A fork then copies less: the allocator of Python's objects asks for small pages, whatever glibc is set to. Has an
    effect on Linux 6.1 and later only.
    """
    with contextlib.suppress(OSError, ValueError, AttributeError):
        with open("/proc/self/maps") as maps:
            areas = [line.split() for line in maps]
        for place, rights, _, _, _, *name in areas:
            first, end = (int(border, 16) for border in place.split("-"))
            first = -(-first // LARGE_PAGE) * LARGE_PAGE
            if rights == "rw-p" and name in ([], ["[heap]"]):
                for start in range(first, end - LARGE_PAGE + 1, LARGE_PAGE):
                    library().madvise(ctypes.c_void_p(start), ctypes.c_size_t(LARGE_PAGE), MADV_COLLAPSE)


def keep_out() -> None:
    """Forbid other processes of the same user to read this process's memory or to attach to it as a debugger does."""
    with contextlib.suppress(OSError, AttributeError, TypeError):  # only Linux has this option
        prctl(PR_SET_DUMPABLE, 0)
