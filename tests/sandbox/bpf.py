"""Runs a seccomp program as the kernel does, on a made-up call. Knows no table of ours."""

import struct

ERRNO, KILL, ALLOW = 0x00050000, 0x80000000, 0x7FFF0000


def run(program: list[tuple], number: int, machine: int, arguments: tuple = ()) -> str:
    """ "allow", "kill" or "errno N" for one system call."""
    arguments = [argument & (1 << 64) - 1 for argument in (*arguments, *[0] * 6)][:6]
    data = struct.pack("<IIQ6Q", number & 0xFFFFFFFF, machine, 0, *arguments)
    accumulator, at = 0, 0
    while True:
        code, if_true, if_false, constant = program[at]
        at += 1
        if code == 0x20:  # load a word
            accumulator = struct.unpack_from("<I", data, constant)[0]
        elif code == 0x54:  # and
            accumulator &= constant
        elif code == 0x15:  # equal
            at += if_true if accumulator == constant else if_false
        elif code == 0x35:  # at least
            at += if_true if accumulator >= constant else if_false
        elif code == 0x06:  # return
            if constant & 0xFFFF0000 == ERRNO:
                return f"errno {constant & 0xFFFF}"
            return {ALLOW: "allow", KILL: "kill"}[constant]
        else:
            raise AssertionError(f"an instruction that no filter of ours uses: {code:#x}")
