"""Applies the layers of the sandbox to a fork, in the only order that works.

The change of the user comes before the request for a signal at the parent's death, since setresuid clears that request.
Landlock's paths are opened in the fork server, before the user changes. The filter of system calls comes last, because
it refuses the calls by which the other layers are applied.
"""

import os
import struct
import sys
from ctypes import c_char_p

from .. import kernels
from . import kernel, landlock, seccomp

CAPSET = {"x86_64": 126, "aarch64": 91}
CAPABILITIES_V3 = 0x20080522
COMPILED_BYTES = 1 << 26  # of the largest kernel that a GPU's compiler writes


class Lockdown:
    """The layers that each fork of one fork server applies. Made once; it opens the paths that Landlock will allow.

    Whatever is the same for all forks is found out here: in a fork, each step makes the kernel copy memory.

    plan: `landlock` (bool), `seccomp` (bool), `uid` (None keeps the user), `readable` and `devices` (paths), `device`
    ("cpu", "cuda" or "mps"). Raises RuntimeError for a filter where this architecture's system calls are not listed.
    """

    def __init__(self, plan: dict):
        self.uid, self.device = plan["uid"], plan["device"]
        self.paths = (plan["readable"], plan["devices"])
        self.rules = landlock.ruleset(*self.paths) if plan["landlock"] else None
        self.machine = seccomp.machine() if plan["seccomp"] else None
        if plan["seccomp"] and not self.machine:
            raise RuntimeError("this machine's system calls are not listed in worker/lockdown/seccomp.py")
        self.filter = seccomp.Filter(seccomp.build(self.machine, seccomp.LATER, self.device)) if self.machine else None
        self.size = kernel.address_space()
        self.file_bytes = COMPILED_BYTES if kernels.are_native(plan) else 0

    def put_on(self, connection: int, limits: dict, parent: int) -> None:
        """In the fork: give up every right but to use the file descriptor `connection`, which becomes number 3.

        limits: as kernel.apply_limits reads them. parent: the process id of the fork server. Raises OSError where a
        layer cannot be applied.
        """
        os.setsid()
        rules = self.rules
        if rules is not None and self.device == "cuda":
            rules = landlock.ruleset(*self.paths, own=f"/proc/{os.getpid()}")
        rules = keep_only(connection, rules)
        give_up_user(self.uid, self.machine)
        kernel.die_with_parent(parent)
        kernel.apply_limits(limits, self.size, self.file_bytes)
        kernel.keep_out()
        if rules is not None or self.filter is not None:
            kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
        if rules is not None:
            kernel.call(landlock.RESTRICT_SELF, rules, 0)
            os.close(rules)
        if self.filter is not None:
            self.filter.install()


def keep_only(connection: int, rules: int | None) -> int | None:
    """Make descriptors 0 to 2 /dev/null, 3 the connection and 4 the rules, and close all others.

    Returns the number of the rules' descriptor; None where there are no rules.
    """
    kept_descriptors = [os.dup(descriptor) for descriptor in (connection, rules) if descriptor is not None]
    while min(kept_descriptors) < 8:  # higher than the numbers that are overwritten below
        kept_descriptors = [os.dup(descriptor) for descriptor in kept_descriptors]
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    for number, descriptor in enumerate(kept_descriptors, 3):
        os.dup2(descriptor, number, inheritable=False)
    os.closerange(3 + len(kept_descriptors), 65536)
    return 4 if rules is not None else None


def give_up_user(uid: int | None, machine: str | None) -> None:
    """Become the user `uid`, who owns no file. Where root cannot change the user, it loses all its capabilities."""
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    elif sys.platform == "linux" and os.geteuid() == 0 and machine in CAPSET:
        header, no_capabilities = struct.pack("<Ii", CAPABILITIES_V3, 0), bytes(24)
        kernel.call(CAPSET[machine], c_char_p(header), c_char_p(no_capabilities))
