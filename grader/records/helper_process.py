"""The helper process that reads submissions: it runs the functions marked `@limited`, each call under limits."""

import contextlib
import importlib
import json
import resource
import signal
import socket
import sys
from typing import Any

from grader.catalog.errors import BadSubmission
from grader.records import limited
from grader.records.helper_messages import MAX_ANSWER, receive_message, send_message, unpack
from grader.records.limited import CPU_S, MEMORY
from grader.worker.rlimits import address_space

KEPT = 50 << 20  # bytes above the start; a helper that takes more after a call is replaced


def serve(descriptor: int) -> None:
    """Answer requests until the grader closes the connection."""
    limited.helper.serving = True
    importlib.import_module("grader.records.introspection")  # the first requests need it
    connection = socket.socket(fileno=descriptor)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)  # the default action ends the process
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process handles Ctrl-C
    base = address_space()
    _limit_memory(base)
    with contextlib.suppress(EOFError, OSError):
        send_message(connection, b"ready")
        while True:
            module, name, args = unpack(receive_message(connection, sys.maxsize))
            if module not in sys.modules:
                base = _import_unlimited(module, base)
            signal.setitimer(signal.ITIMER_PROF, CPU_S)
            answer = _call(module, name, tuple(args))
            answer["spent"] = max(CPU_S - signal.setitimer(signal.ITIMER_PROF, 0)[0], 0.0)
            size = address_space()
            answer["last"] = base is not None and size is not None and size > base + KEPT
            data = json.dumps(answer).encode()
            send_message(connection, data if len(data) <= MAX_ANSWER else b'{"last": true}')
            if answer["last"]:
                return


def _call(module: str, name: str, args: tuple[Any, ...]) -> limited.Answer:
    """The result of a call as an Answer, whatever happens."""
    try:
        return {"value": getattr(sys.modules[module], name)(*args)}
    except BadSubmission as error:
        return {"refused": str(error)}
    except Exception:  # MemoryError, RecursionError or an unexpected error: only this source is refused
        return {}


def _import_unlimited(module: str, base: int | None) -> int | None:
    """Import a module of the grader. Returns the new base: the memory of the import is not charged to a source."""
    size_before = address_space()
    _limit_memory(None)
    importlib.import_module(module)
    size_after = address_space()
    base = None if base is None or size_before is None or size_after is None else base + size_after - size_before
    _limit_memory(base)
    return base


def _limit_memory(base: int | None) -> None:
    """Limit this process to `base` + MEMORY bytes; None removes the limit."""
    _, ceiling = resource.getrlimit(resource.RLIMIT_AS)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (ceiling if base is None else base + MEMORY, ceiling))
