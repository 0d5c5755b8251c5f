"""A child of the warm process becomes what a command's own process would be, and runs the command."""

import contextlib
import io
import os
import signal
import socket
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from typing import TextIO

from grader.catalog import errors
from grader.judge import collection
from grader.warm.client import VERBS, verb_of
from grader.warm.lending import Loan
from grader.warm.message import BEGUN, DESCRIPTORS, ENDED, GO, READY, Request

PASSING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGWINCH, signal.SIGCHLD)


def run(
    request: Request,
    connection: socket.socket,
    report: int,
    loan: Loan,
    command: Callable[[], int],
) -> None:
    """Run a command for a client, and tell it the exit code. report: where the warm process reads the end."""
    assert verb_of(request.words) in VERBS, "the warm process runs a learner's own commands alone"
    os.setsid()  # no terminal of its own: the client's is read and written whatever job is in front there
    ignored = set(map(int, request.ignored.split()))
    for number in PASSING:
        signal.signal(number, signal.SIG_IGN if number in ignored else signal.SIG_DFL)
    connection.settimeout(None)
    connection.sendall(b"%s%d\n" % (READY, os.getpid()))
    said, descriptors, _, _ = socket.recv_fds(connection, 1, DESCRIPTORS)
    if said != GO or len(descriptors) != DESCRIPTORS:
        os._exit(0)  # the client has begun the cold way
    os.write(report, BEGUN)
    become(request, descriptors)
    collection.asked_for.clear()
    try:
        if signal.SIGINT not in ignored:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        loan.take()
        code = command()
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        code = errors.STOPPED
    except SystemExit as ended:  # --help
        code = ended.code if isinstance(ended.code, int) else 0
    except Exception:  # as Python itself ends
        traceback.print_exc()
        code = 1
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # that it is full or closed was reported
            stream.flush()
    told = [loan.give_back(), *collection.asked_for]
    os.write(report, f"{' '.join(told)}\n".encode())
    with contextlib.suppress(OSError):
        connection.sendall(b"%s%d\n" % (ENDED, code))


def become(request: Request, descriptors: list[int]) -> None:
    """Take over the streams, the folder, the mask and the environment of the client."""
    for number, descriptor in enumerate(descriptors[:3]):
        os.dup2(descriptor, number)
    os.fchdir(descriptors[3])
    for descriptor in descriptors:
        os.close(descriptor)
    os.umask(int(request.umask))
    os.environ.clear()
    for variable in request.environment:
        name, _, value = variable.partition("=")
        os.environ[name] = value
    time.tzset()
    tempfile.tempdir = None
    sys.argv[1:] = request.words
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
