"""Seccomp: the kernel runs a small program before each system call, which refuses all calls that are not listed here.

As measured, a varied torch workload needs 24 calls while it runs, and no new thread or process. Python needs the others
to import, to print a number or to sleep. The list leaves out on purpose every call that creates a process or thread,
runs a program, opens a socket, sends a signal or a file descriptor, changes a file's name, mode or size, or uses a
recent part of the kernel.

A test simulates the program for all numbers. A refused call fails with EPERM, so that Python raises an OSError that a
learner can read. A call in the numbering of another architecture kills the process, since the numbers mean other calls
there. Written by hand, because a worker imports only torch and the standard library and so cannot use a binding of
libseccomp.
"""

import ctypes
import errno
import os
import platform
import re
import struct
from typing import Any

from . import kernel

MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}  # the kernel's AUDIT_ARCH_… of each
X32 = 0x40000000  # from this number on, x86-64 has every call a second time
# name: (number on x86-64, number on aarch64); None: that machine has no such call.
ALWAYS = {
    "recvfrom": (45, 207), "sendto": (44, 206), "read": (0, 63), "write": (1, 64),
    "readv": (19, 65), "writev": (20, 66), "pread64": (17, 67), "close": (3, 57),
    "fstat": (5, 80), "lseek": (8, 62), "dup": (32, 23),
    "mmap": (9, 222), "mprotect": (10, 226), "munmap": (11, 215), "mremap": (25, 216),
    "madvise": (28, 233), "brk": (12, 214),
    "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139), "sigaltstack": (131, 132),
    "futex": (202, 98), "sched_yield": (24, 124), "sched_getaffinity": (204, 123), "getcpu": (309, 168),
    "nanosleep": (35, 101), "clock_nanosleep": (230, 115), "clock_gettime": (228, 113), "clock_getres": (229, 114),
    "gettimeofday": (96, 169), "time": (201, None), "times": (100, 153),
    "poll": (7, None), "ppoll": (271, 73), "select": (23, None), "pselect6": (270, 72),
    "getpid": (39, 172), "gettid": (186, 178), "getppid": (110, 173),
    "getuid": (102, 174), "geteuid": (107, 175), "getgid": (104, 176), "getegid": (108, 177),
    "uname": (63, 160), "sysinfo": (99, 179), "getrusage": (98, 165), "getrlimit": (97, 163),
    "getrandom": (318, 278), "restart_syscall": (219, 128), "exit": (60, 93), "exit_group": (231, 94),
}  # fmt: skip
# The calls on files. Landlock restricts which files may be opened.
FILES = {
    "openat": (257, 56), "open": (2, None), "newfstatat": (262, 79), "stat": (4, None), "lstat": (6, None),
    "statx": (332, 291), "access": (21, None), "faccessat": (269, 48), "faccessat2": (439, 439),
    "readlink": (89, None), "readlinkat": (267, 78), "getdents64": (217, 61), "getcwd": (79, 17),
}  # fmt: skip
# What CUDA needs in addition, as measured on an H200 with driver 580: threads, event descriptors, ioctls on the device
# files, and a socket at which it listens. It gives up where it may not even try to remove names in /dev/char, which
# Landlock refuses.
CUDA = {
    "ioctl": (16, 29), "eventfd2": (290, 19), "pipe2": (293, 59), "epoll_create1": (291, 20), "epoll_ctl": (233, 21),
    "epoll_pwait": (281, 22), "set_robust_list": (273, 99), "rseq": (334, 293),
    "mlock": (149, 228), "munlock": (150, 229), "mincore": (27, 232), "get_mempolicy": (239, 236),
    "set_mempolicy": (238, 237), "mbind": (237, 235), "sched_getparam": (143, 121), "sched_getscheduler": (145, 120),
    "sched_get_priority_max": (146, 125), "sched_get_priority_min": (147, 126), "membarrier": (324, 283),
    "unlink": (87, None), "unlinkat": (263, 35), "bind": (49, 200), "listen": (50, 201),
    "fallocate": (285, 47), "ftruncate": (77, 46), "statfs": (137, 43), "fstatfs": (138, 44), "pwrite64": (18, 68),
}  # fmt: skip

# Calls allowed for some arguments only. A call passes if every (argument, mask, value) of one line holds:
# argument & mask == value, over all 64 bits. SELF means the worker's own pid.
SELF, EVERY = "its own pid", (1 << 64) - 1
CHECKED = {
    # F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC; F_SETOWN with F_SETSIG would send signals.
    "fcntl": ((72, 25), [[(1, EVERY, command)] for command in (0, 1, 2, 3, 1030)]),
    "ioctl": ((16, 29), [[(1, EVERY, 0x5401)]]),  # TCGETS, which isatty asks
    "tgkill": ((234, 131), [[(0, EVERY, SELF)]]),  # abort() sends a signal to its own process
    "prlimit64": ((302, 261), [[(0, EVERY, 0), (2, EVERY, 0)]]),  # only to read the process's own limits
    "prctl": ((157, 167), [[(0, EVERY, 15)], [(0, EVERY, 16)]]),  # PR_SET_NAME, PR_GET_NAME
}

# CLONE_VM|FS|FILES|SIGHAND|THREAD, and none of the bits that create namespaces: only a thread.
THREAD, MUST_LACK = 0x10F00, 0x7E020080
CUDA_CHECKED = {
    "fcntl": ((72, 25), [[(1, EVERY, command)] for command in (0, 1, 2, 3, 4, 1030)]),  # F_SETFL too
    # AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC: what the grader and most programs listen at are streams.
    "socket": ((41, 198), [[(0, EVERY, 1), (1, EVERY, 0x80005)]]),
    "clone": ((56, 220), [[(0, THREAD | MUST_LACK, THREAD)]]),
    "sched_setaffinity": ((203, 122), [[(0, EVERY, 0)], [(0, EVERY, SELF)]]),
}
NOT_THERE = {"clone3": (435, 435)}  # its flags cannot be checked; after ENOSYS the C library uses clone
LOAD, AND, EQUAL, AT_LEAST, RETURN = 0x20, 0x54, 0x15, 0x35, 0x06  # the BPF instructions in use
NUMBER, MACHINE, ARGUMENTS = 0, 4, 16  # offsets in the kernel's struct seccomp_data
ALLOW, KILL, REFUSE = 0x7FFF0000, 0x80000000, 0x00050000
PR_SET_SECCOMP, MODE_FILTER = 22, 2
LATER = 0x5EC0_5EC0  # stands for a process id that is not known yet; no id is so large
INSTRUCTION = struct.Struct("<HBBI")
Instruction = tuple[int, int, int, int]  # code, jump if true, jump if false, constant


def allowed(machine: str, device: str) -> tuple[dict[int, str], dict[int, tuple[str, Any]], set[int]]:
    """The calls by number: those allowed with any arguments, the checked ones with their lines, those with ENOSYS."""
    column = list(MACHINES).index(machine)
    unconditional, checked, unknown = ALWAYS | FILES, dict(CHECKED), dict[str, tuple[int, int]]()
    if device == "cuda":
        unconditional |= CUDA
        checked = {name: entry for name, entry in checked.items() if name not in CUDA} | CUDA_CHECKED
        unknown = NOT_THERE
    numbers = {
        number: name for name, entry in unconditional.items() for number in [entry[column]] if number is not None
    }
    lines = {entry[0][column]: (name, entry[1]) for name, entry in checked.items()}
    return numbers, lines, {entry[column] for entry in unknown.values()}


def machine() -> str | None:
    """The name of this machine's architecture, a key of MACHINES; None where its system calls are not listed."""
    name = {"arm64": "aarch64", "amd64": "x86_64"}.get(platform.machine().lower(), platform.machine())
    is_listed = name in MACHINES and platform.system() == "Linux" and struct.calcsize("P") == 8
    return name if is_listed else None


def available() -> bool:
    """Whether this kernel supports filters of system calls."""
    if machine() is None:
        return False
    try:
        kernel.prctl(PR_SET_SECCOMP, MODE_FILTER)  # without a program: EFAULT means that one would be accepted
    except (OSError, AttributeError) as error:
        return getattr(error, "errno", None) == errno.EFAULT
    return False


def build(machine: str, pid: int, device: str = "cpu") -> list[Instruction]:
    """The program for a worker on a machine (a key of MACHINES), of this process id or LATER. CUDA needs more calls."""
    unconditional, checked, unknown = allowed(machine, device)
    program = [(LOAD, 0, 0, MACHINE), (EQUAL, 1, 0, MACHINES[machine]), (RETURN, 0, 0, KILL)]
    program += [(LOAD, 0, 0, NUMBER)]
    if machine == "x86_64":
        program += [(AT_LEAST, 0, 1, X32), (RETURN, 0, 0, KILL)]
    for number in unconditional:
        program += _case(number, [(RETURN, 0, 0, ALLOW)])
    for number in unknown:
        program += _case(number, [(RETURN, 0, 0, REFUSE | errno.ENOSYS)])
    for number, (_, lines) in checked.items():
        tests = [test for line in lines for test in _line(line, pid)]
        program += _case(number, [*tests, (RETURN, 0, 0, REFUSE | errno.EPERM)])
    return [*program, (RETURN, 0, 0, REFUSE | errno.EPERM)]


class Filter:
    """A program as the kernel reads it. It is made before a fork, since each fork would take longer for it."""

    def __init__(self, program: list[Instruction]):
        code = b"".join(INSTRUCTION.pack(*instruction) for instruction in program)
        self.code = ctypes.create_string_buffer(code, len(code))
        self.own = [found.start() for found in re.finditer(re.escape(LATER.to_bytes(4, "little")), code)]
        self.head = struct.pack("@HP", len(program), ctypes.addressof(self.code))

    def belong_to(self, pid: int) -> None:
        """Make it the program of this process, where it was built for LATER."""
        for place in self.own:
            struct.pack_into("<I", self.code, place, pid)

    def install(self) -> None:
        """Apply it to this process, which cannot be undone. NO_NEW_PRIVS must be set before. Raises OSError."""
        self.belong_to(os.getpid())
        kernel.prctl(PR_SET_SECCOMP, MODE_FILTER, ctypes.c_char_p(self.head))


def _case(number: int, block: list[Instruction]) -> list[Instruction]:
    """Instructions that run a block, which ends in a RETURN, for the call of this number, and skip it for others."""
    return [(EQUAL, 0, len(block), number), *block]


def _line(conditions: list[tuple], pid: int) -> list[Instruction]:
    """Instructions that allow the call where all conditions hold; otherwise execution continues after them."""
    tests: list[list[Instruction]] = []
    for argument, mask, value in conditions:
        value = pid if value is SELF else value
        for half in (0, 1):  # the low word comes first: both architectures are little-endian
            half_mask = (mask >> 32 * half) & 0xFFFFFFFF
            if half_mask:
                load = (LOAD, 0, 0, ARGUMENTS + 8 * argument + 4 * half)
                masked = [] if half_mask == 0xFFFFFFFF else [(AND, 0, 0, half_mask)]
                tests.append([load, *masked, (EQUAL, 0, 0, (value >> 32 * half) & half_mask)])
    instructions_left = sum(map(len, tests)) + 1  # instructions from here to the end of the line
    code: list[Instruction] = []
    for test in tests:
        instructions_left -= len(test)
        *other_tests, (operation, _, _, constant) = test
        code += [*other_tests, (operation, 0, instructions_left, constant)]
    return [*code, (RETURN, 0, 0, ALLOW)]
