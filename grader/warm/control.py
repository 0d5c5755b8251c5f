"""Asks the warm process of this checkout how it is, and ends it."""

import contextlib
import fcntl
import os
import signal
import time
from dataclasses import dataclass

from grader.catalog import paths
from grader.warm import client, message
from grader.warm.message import STATUS, STOP, TOLD

END_S = 3.0  # seconds to wait until it has ended


@dataclass(frozen=True)
class Status:
    """The warm process. since: seconds since 1970; megabytes: what it holds, with all that it keeps.

    commands: how many it has been given.
    """

    pid: int
    since: int
    megabytes: int
    commands: int


def status() -> Status | None:
    """The warm process of this checkout; None where there is none that answers."""
    answer = _ask(STATUS)
    return Status(*map(int, answer.split())) if answer else None


def stop() -> bool:
    """End the warm process once its commands are done, or in seconds. Returns whether there was one."""
    folder = message.open_folder()
    if folder is None:
        return False
    try:
        lock = os.open(f"{message.name_of(str(paths.DESK))}.lock", os.O_RDONLY | os.O_CLOEXEC, dir_fd=folder)
    except OSError:
        return False
    finally:
        os.close(folder)
    with open(lock, "rb") as file:
        if _is_free(lock):
            return False
        _ask(STOP)
        deadline = time.monotonic() + END_S
        while not _is_free(lock):
            if time.monotonic() > deadline:  # it starts, or was stopped
                with contextlib.suppress(OSError, ValueError):
                    os.kill(int(file.read()), signal.SIGKILL)
                break
            time.sleep(0.02)
    return True


def _is_free(lock: int) -> bool:
    """Whether no warm process holds the lock. One that starts meanwhile finds it free."""
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        fcntl.flock(lock, fcntl.LOCK_UN)
    except OSError:
        return False
    return True


def _ask(want: str) -> bytes | None:
    """The answer to a question; None where nobody answers."""
    try:
        connection = client.connect(str(paths.DESK))
        client.send(connection, want, [], str(paths.DESK))
        answer = client.first_answer(connection)
    except OSError:
        return None
    return answer.removeprefix(TOLD) if answer.startswith(TOLD) else None
