"""Puts the layers on, in the one order that works.

The user is given up before the death signal is asked for, since setresuid clears it. Landlock's
paths are opened in the fork server, before the user is given up. The filter comes last: it refuses the
calls that the other layers are put on with.
"""

import os
import struct
import sys
from ctypes import c_char_p

from .. import rlimits
from . import kernel, landlock, seccomp

CAPSET = {"x86_64": 126, "aarch64": 91}
CAPABILITIES_V3 = 0x20080522


class Lockdown:
    """What each fork of one fork server puts on. Made once; opens the paths that Landlock will allow.

    `plan`: landlock (bool), seccomp ("", "open", or "closed": no file at all), uid (None: keep),
    readable and devices (paths), device ("cpu", "cuda", "mps").
    """

    def __init__(self, plan: dict):
        self.uid, self.seccomp, self.device = plan["uid"], plan["seccomp"], plan["device"]
        self.rules = landlock.ruleset(plan["readable"], plan["devices"]) if plan["landlock"] else None
        self.machine = seccomp.machine() if self.seccomp else None
        if self.seccomp and self.machine is None:
            raise RuntimeError("this machine's system calls are not written down in worker/sandbox/syscalls.py")

    def put_on(self, connection: int, asked: dict, parent: int) -> None:
        """In the fork: give up all but the descriptor `connection`, which becomes number 3."""
        os.setsid()
        rules = keep_only(connection, self.rules)
        size = rlimits.address_space()
        give_up_user(self.uid, self.machine)
        rlimits.die_with_parent(parent)
        rlimits.apply(asked, size)
        kernel.keep_out()
        if rules is not None or self.seccomp:
            kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
        if rules is not None:
            landlock.restrict(rules)
            os.close(rules)
        if self.seccomp:
            seccomp.install(seccomp.build(self.machine, os.getpid(), self.seccomp == "open", self.device))


def keep_only(connection: int, rules: int | None) -> int | None:
    """Descriptors 0-2 become /dev/null, 3 the connection, 4 the rules; all others are closed."""
    kept = [os.dup(descriptor) for descriptor in (connection, rules) if descriptor is not None]
    while min(kept) < 8:  # out of the way of the numbers that are about to be overwritten
        kept = [os.dup(descriptor) for descriptor in kept]
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    for number, descriptor in enumerate(kept, 3):
        os.dup2(descriptor, number, inheritable=False)
    os.closerange(3 + len(kept), 65536)
    return 4 if rules is not None else None


def give_up_user(uid: int | None, machine: str | None) -> None:
    """Become a user whom no file belongs to. A root that must stay root loses all its powers."""
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    elif sys.platform == "linux" and os.geteuid() == 0 and machine in CAPSET:
        header, nothing = struct.pack("<Ii", CAPABILITIES_V3, 0), bytes(24)
        kernel.call(CAPSET[machine], c_char_p(header), c_char_p(nothing))
