"""Landlock: the kernel lets this process open the listed paths and no others.

It also forbids TCP (from kernel 6.7), and signals and abstract sockets to processes outside (from 6.12). It does not
hide names: `stat` of a hidden file still succeeds.

Written by hand, because a worker imports only torch and the standard library, and the C library has no function for it.
"""

import contextlib
import ctypes
import os
import struct
from collections.abc import Sequence

from . import kernel

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # the same numbers on every architecture
VERSION_FLAG, PATH_BENEATH = 1, 1
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
TRUNCATE, IOCTL_DEV = 1 << 14, 1 << 15
FILES_BY_ABI = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
NETWORK = 0b11  # bind and connect of TCP, from ABI 4 on
SCOPED = 0b11  # abstract sockets and signals, from ABI 6 on
INSTALLED = ("site-packages", "dist-packages")  # this kata itself, with its solutions, may be installed there


def abi() -> int:
    """The version of Landlock that this kernel offers; 0 where it offers none."""
    try:
        return kernel.call(CREATE_RULESET, 0, 0, VERSION_FLAG)
    except (OSError, AttributeError):
        return 0


def ruleset(readable: list[str], devices: Sequence[str] = (), own: str = "") -> int:
    """A file descriptor of rules: everything below `readable` may be read, `devices` may be used, nothing else.

    own: the folder of the process in /proc, whose files it may read and write: CUDA names its threads there. The paths
    are opened here, so that a process can apply the rules after it has lost the right to read them. Raises OSError
    where the kernel refuses, for example because it has no Landlock.
    """
    version = abi()
    handled = FILES_BY_ABI[max(supported for supported in FILES_BY_ABI if supported <= version)]
    attribute = struct.pack("<QQQ", handled, NETWORK if version >= 4 else 0, SCOPED if version >= 6 else 0)
    attribute = attribute[: 8 if version < 4 else 16 if version < 6 else 24]
    descriptor = kernel.call(CREATE_RULESET, ctypes.c_char_p(attribute), len(attribute), 0)
    for root in readable:
        for path in without_installed(root):
            _allow(descriptor, path, READ_FILE | READ_DIR)
    for path in ("/dev/null", *devices):
        _allow(descriptor, path, (READ_FILE | WRITE_FILE | READ_DIR | TRUNCATE | IOCTL_DEV) & handled)
    if own:
        _allow(descriptor, own, (READ_FILE | WRITE_FILE | READ_DIR | TRUNCATE) & handled)
    return descriptor


def without_installed(root: str) -> list[str]:
    """Paths that together cover a folder without the installed packages in it, since rules can only add rights."""
    try:
        entries = list(os.scandir(root))
    except OSError:
        return [root]
    names = {entry.name for entry in entries}
    if not any(name in INSTALLED or name.startswith("python") for name in names):
        return [root]
    covering = []
    for entry in entries:
        if entry.name in INSTALLED:
            continue
        nested = entry.name.startswith("python") and entry.is_dir()
        covering += without_installed(entry.path) if nested else [entry.path]
    return covering


def _allow(ruleset: int, path: str, access: int) -> None:
    with contextlib.suppress(FileNotFoundError, PermissionError, NotADirectoryError):
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            if not os.path.isdir(path):
                access &= EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
            rule = ctypes.c_char_p(struct.pack("<Qi", access, descriptor))
            kernel.call(ADD_RULE, ruleset, PATH_BENEATH, rule, 0)
        finally:
            os.close(descriptor)
