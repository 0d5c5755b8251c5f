"""Asks the warm process of this checkout how it is, and ends it."""

import contextlib
import os
import signal
import time

from grader.catalog import paths
from grader.warm import client, message

END_S = 5.0  # seconds to wait until it has ended


def status() -> tuple[int, int] | None:
    """The id of the warm process of this checkout, and how many commands it was given; None where none answers."""
    try:
        with client.ask(str(paths.DESK), message.STATUS, []) as connection:
            return message.peer(connection) or 0, message.receive(connection)["commands"]
    except (OSError, ValueError, KeyError):
        return None


def stop() -> bool:
    """End the warm process. Returns whether there was one."""
    found = status()
    if found is None:
        return False
    with contextlib.suppress(ProcessLookupError):
        os.kill(found[0], signal.SIGKILL)  # what it has started ends with it
    deadline = time.monotonic() + END_S
    while status() is not None and time.monotonic() < deadline:
        time.sleep(0.02)
    return True
