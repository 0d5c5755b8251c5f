"""A child of the warm process becomes what a command's own process would be, and runs the command."""

import contextlib
import io
import os
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any, TextIO

from grader.judge import collection
from grader.records import interrupts
from grader.warm import client, message
from grader.warm.ready import Ready

WHOLE = "whole"  # what a child reports whose loan another one can use; then the exercises that were asked for


def run(
    request: dict[str, Any], connection: socket.socket, report: int, ready: Ready, command: Callable[[], int]
) -> None:
    """Run a command for a client, and tell it the exit code. report: where the warm process reads the end."""
    words: list[str] = request["words"]
    os.setsid()  # no terminal of its own: the client's is read and written whatever job is in front there
    for number in (*client.FORWARDED, signal.SIGCHLD):
        signal.signal(number, signal.SIG_IGN if number in request["ignored"] else signal.SIG_DFL)

    def end(code: int) -> None:
        """End at once, by Ctrl-C: the warm process sees that nothing was given back."""
        with contextlib.suppress(OSError):
            message.send(connection, {"code": code})
        os._exit(code)

    with interrupts.hold_back():
        interrupts.end_at_once(words[:1] == [client.MAKE], end)
        connection.settimeout(None)
        message.send(connection, {"pid": os.getpid()})
        said, descriptors, _, _ = socket.recv_fds(connection, len(message.GO), message.DESCRIPTORS)
        if said != message.GO or len(descriptors) != message.DESCRIPTORS:
            os.write(report, WHOLE.encode())
            os._exit(0)  # the client has begun the cold way
        become(request, descriptors)
    collection.asked_for.clear()
    ready.take()
    code = command()
    if ready.give_back():
        with contextlib.suppress(OSError):  # the warm process was killed meanwhile; the verdict is whole all the same
            os.write(report, " ".join([WHOLE, *collection.asked_for]).encode())
    with contextlib.suppress(OSError):
        message.send(connection, {"code": code})


def become(request: dict[str, Any], descriptors: list[int]) -> None:
    """Take over the streams, the folder, the mask and the environment of the client."""
    for number, descriptor in enumerate(descriptors[:3]):
        os.dup2(descriptor, number)
    os.fchdir(descriptors[3])
    for descriptor in descriptors:
        os.close(descriptor)
    os.umask(request["umask"])
    os.environ.clear()
    os.environ.update(request["environment"])
    time.tzset()
    tempfile.tempdir = None
    sys.argv[1:] = request["words"]
    own = sys.stdin, sys.stdout, sys.stderr  # opened at the start of the warm process, with the same settings
    sys.stdin, sys.stdout, sys.stderr = (stream(number, like) for number, like in enumerate(own))
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr  # type: ignore[misc]


def stream(descriptor: int, like: TextIO) -> io.TextIOWrapper:
    """A standard stream as Python opens it at its start. like: one with the same settings."""
    assert isinstance(like, io.TextIOWrapper)
    mode = "w" if like.writable() else "r"
    raw = os.fdopen(descriptor, f"{mode}b", 0 if like.write_through else -1, closefd=False)
    return io.TextIOWrapper(
        raw,
        encoding=like.encoding,
        errors=like.errors,
        newline="\n" if mode == "w" else None,
        line_buffering=mode == "w" and not like.write_through and (descriptor == 2 or raw.isatty()),
        write_through=like.write_through,
    )
