"""Seccomp: the kernel runs a small program before each system call, which refuses all calls that are not listed.

The program is assembled here from the list in syscalls.py. A test simulates it for all numbers. A refused call fails
with EPERM, so that Python raises an OSError that a learner can read. A call in the numbering of another architecture
kills the process, since the numbers mean other calls there.

Written by hand, because a worker imports only torch and the standard library and so cannot use a binding of libseccomp.
"""

import ctypes
import errno
import os
import platform
import re
import struct

from . import kernel, syscalls

LOAD, AND, EQUAL, AT_LEAST, RETURN = 0x20, 0x54, 0x15, 0x35, 0x06  # the BPF instructions in use
NUMBER, MACHINE, ARGUMENTS = 0, 4, 16  # offsets in the kernel's struct seccomp_data
ALLOW, KILL, REFUSE = 0x7FFF0000, 0x80000000, 0x00050000
PR_SET_SECCOMP, MODE_FILTER = 22, 2
LATER = 0x5EC0_5EC0  # stands for a process id that is not known yet; no id is so large
INSTRUCTION = struct.Struct("<HBBI")
Instruction = tuple[int, int, int, int]  # code, jump if true, jump if false, constant


def machine() -> str | None:
    """The name of this machine's architecture in syscalls.py; None where its system calls are not listed."""
    name = {"arm64": "aarch64", "amd64": "x86_64"}.get(platform.machine().lower(), platform.machine())
    is_listed = name in syscalls.MACHINES and platform.system() == "Linux" and struct.calcsize("P") == 8
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


def build(machine: str, pid: int, files: bool = True, device: str = "cpu") -> list[Instruction]:
    """The program for one worker.

    machine: as `machine` returns it. pid: the worker's process id, or LATER. files: whether it may open files, which
    Landlock then restricts. device: "cuda" needs more system calls.
    """
    unconditional, checked, unknown = syscalls.allowed(machine, files, device)
    program = [(LOAD, 0, 0, MACHINE), (EQUAL, 1, 0, syscalls.MACHINES[machine]), (RETURN, 0, 0, KILL)]
    program += [(LOAD, 0, 0, NUMBER)]
    if machine == "x86_64":
        program += [(AT_LEAST, 0, 1, syscalls.X32), (RETURN, 0, 0, KILL)]
    for number in unconditional:
        program += _case(number, [(RETURN, 0, 0, ALLOW)])
    for number in unknown:
        program += _case(number, [(RETURN, 0, 0, REFUSE | errno.ENOSYS)])
    for number, (_, lines) in checked.items():
        tests = [test for line in lines for test in _line(line, pid)]
        program += _case(number, [*tests, (RETURN, 0, 0, REFUSE | errno.EPERM)])
    return [*program, (RETURN, 0, 0, REFUSE | errno.EPERM)]


def encode(program: list[Instruction]) -> bytes:
    """The program as the kernel reads it."""
    return b"".join(INSTRUCTION.pack(*instruction) for instruction in program)


class Filter:
    """An encoded program, ready to be applied. It is made before a fork, since each fork would take longer for it."""

    def __init__(self, code: bytes):
        self.code = ctypes.create_string_buffer(code, len(code))
        self.own = [found.start() for found in re.finditer(re.escape(LATER.to_bytes(4, "little")), code)]
        self.head = struct.pack("@HP", len(code) // INSTRUCTION.size, ctypes.addressof(self.code))

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
        value = pid if value is syscalls.SELF else value
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
