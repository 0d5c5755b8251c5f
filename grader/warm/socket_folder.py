"""Where the socket of a checkout's warm process is: in a folder that nobody but the user can enter.

A folder is opened once and judged by what was opened, so nobody can exchange it afterwards. Its files are named through
the descriptor, which also keeps the socket's address short: the kernel takes 108 bytes.
"""

import os
import stat

NAME = "attention-kata"


def open_folder(make: bool = False) -> int | None:
    """The folder's descriptor; None where there is none, or none that others cannot write to. make: make it first."""
    for parent in _parents():
        try:
            if make and not os.path.lexists(parent):
                os.mkdir(parent, 0o700)  # an account that is new has no cache folder
            if not is_safe(parent):
                continue
            path = os.path.join(parent, NAME)
            if make and not os.path.lexists(path):
                os.mkdir(path, 0o700)
            folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            continue
        facts = os.fstat(folder)
        if facts.st_uid == os.geteuid() and stat.S_IMODE(facts.st_mode) == 0o700:
            return folder
        os.close(folder)
    return None


def is_safe(path: str) -> bool:
    """Whether nobody but this user and root can rename or replace a folder in here, or one that leads here."""
    path = os.path.realpath(path)
    while True:
        facts = os.stat(path)
        is_shared = facts.st_mode & 0o022 and not facts.st_mode & stat.S_ISVTX  # as /tmp, where each has their own
        if is_shared or facts.st_uid not in (0, os.geteuid()):
            return False
        if path == os.path.dirname(path):
            return True
        path = os.path.dirname(path)


def name_of(root: str) -> str:
    """The name of a checkout's socket. A home folder may serve several machines, so theirs is in it."""
    facts = os.stat(root)
    return f"{os.uname().nodename[:64].replace('/', '_')}-{facts.st_dev:x}-{facts.st_ino:x}"


def address(folder: int, name: str) -> str:
    """The address of a file in an open folder."""
    return f"/proc/self/fd/{folder}/{name}"


def _parents() -> list[str]:
    environment = os.environ
    home = environment.get("HOME", "")
    cache = environment.get("XDG_CACHE_HOME") or (os.path.join(home, ".cache") if home else "")
    return [parent for parent in (environment.get("XDG_RUNTIME_DIR", ""), cache) if os.path.isabs(parent)]
