"""Functions that run in a helper process, with limits on the processor time and the memory of each call.

Code that reads a stranger's text (Python's parser, a JSON decoder) may take minutes or gigabytes for a few kilobytes,
or crash the process that it runs in. So it runs in a small helper process, which is started at the first call, serves
the following calls and is replaced when it ends. It executes nothing of what it reads, and its answers are JSON.
"""

import contextlib
import functools
import importlib
import json
import resource
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from grader.catalog import paths
from grader.catalog.errors import BadSubmission, InfrastructureError
from grader.records.bounded_cache import BoundedCache
from grader.worker.rlimits import address_space

CPU_S = 1.0  # of processor time, for one call
MEMORY = 200 << 20  # bytes that one call may take, above what the helper takes after its start
KEPT = 50 << 20  # bytes above the start; a helper that takes more after a call is replaced
WAIT_S = 60.0  # seconds to wait for a start or an answer; the helper may have to wait for a processor
MAX_ANSWER = 8 << 20  # bytes
CACHED = 16 << 20  # bytes of questions and answers that are cached
SIZE = struct.Struct("<Q")
P = ParamSpec("P")
R = TypeVar("R")
Answer = dict[str, Any]  # {"value"} or {"refused"}, and "last" where the helper ends after it
BOOT = "import sys; sys.path.insert(0, sys.argv[1]); from grader.records import limited; limited.serve(0)"


class TooMuch(BadSubmission):
    """Reading a submission took more time or memory than one call may take."""

    def __init__(self) -> None:
        super().__init__(
            f"Reading it takes more than {CPU_S:g} s or {MEMORY >> 20} MB, as no answer to an exercise does. "
            "Make it shorter and simpler."
        )


def limited(function: Callable[P, R]) -> Callable[P, R]:
    """Decorator: run the function in the helper process.

    It is called with positional arguments of plain data. Its result passes through JSON: a tuple comes back as a list.
    Raises BadSubmission where the function does, TooMuch where it exceeds a limit or breaks, and InfrastructureError
    where no helper can be started.
    """

    @functools.wraps(function)
    def request(*args: P.args, **kwargs: P.kwargs) -> R:
        if _helper.serving:
            return function(*args, **kwargs)
        answer = _answer(function.__module__, function.__name__, args)
        if "refused" in answer:
            raise BadSubmission(answer["refused"])
        if "value" not in answer:
            raise TooMuch
        value: R = answer["value"]
        return value

    return request


def spent() -> float:
    """The seconds of processor time that calls have taken so far, those that ended the helper at their limit."""
    return _helper.spent


def start() -> None:
    """Start the helper process, if there is none, without waiting until it is ready."""
    with _helper.lock:
        _helper.start()


class Helper:
    """The helper process as its client sees it. In the helper itself `serving` is set and nothing else is used."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.connection: socket.socket | None = None
        self.ready = False
        self.serving = False
        self.spent = 0.0
        self.lock = threading.Lock()  # one request at a time

    def start(self) -> socket.socket:
        """The connection to the process, which is started if there is none. Raises InfrastructureError."""
        if self.connection is not None:
            return self.connection
        connection, helper_end = socket.socketpair()
        connection.settimeout(WAIT_S)
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-I", "-X", "utf8", "-c", BOOT, str(paths.ROOT)],
                stdin=helper_end.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            raise InfrastructureError(f"no process can be started that reads submissions ({error.strerror})") from None
        finally:
            helper_end.close()
        self.connection = connection
        return connection

    def ask(self, request: list[bytes]) -> bytes:
        """The encoded answer to one request; "{}" where the helper ended during it. Raises InfrastructureError."""
        connection = self.start()
        try:
            if not self.ready:
                self.ready = bool(_receive(connection, MAX_ANSWER))
            _send(connection, *request)
            encoded = bytes(_receive(connection, MAX_ANSWER))
            answer: Answer = json.loads(encoded)
        except (OSError, EOFError, ValueError):
            was_ready = self.ready
            self.close()
            if not was_ready:
                raise InfrastructureError("the process that reads submissions ends at once. See: make doctor") from None
            self.spent += CPU_S
            return b"{}"
        except BaseException:  # Ctrl-C: its answer must not be taken for the next one's
            self.close()
            raise
        self.spent += answer.get("spent", 0.0)
        if answer.get("last"):
            self.close()
        return encoded

    def close(self) -> None:
        """End the process, if there is one."""
        if self.connection is not None:
            self.connection.close()
        if self.process is not None:
            self.process.kill()
            self.process.wait()
        self.connection, self.process, self.ready = None, None, False


_helper = Helper()
_answers: BoundedCache[bytes, bytes] = BoundedCache(CACHED)


def _answer(module: str, name: str, args: tuple[Any, ...]) -> Answer:
    request = _packed(module, name, args)
    key = request[0] if len(request) == 1 else None  # a packed file is not kept in memory
    with _helper.lock:
        encoded = _answers.get(key) if key else None
        if encoded is None:
            encoded = _helper.ask(request)
            if key:
                _answers.put(key, encoded)
    answer: Answer = json.loads(encoded)
    return answer


def _packed(module: str, name: str, args: tuple[Any, ...]) -> list[bytes]:
    """A call in pieces: JSON on one line, then the arguments that are bytes, whose places hold [their length]."""
    raw = [part for part in args if isinstance(part, bytes)]
    plain = [[len(part)] if isinstance(part, bytes) else part for part in args]
    return [json.dumps([module, name, plain]).encode() + b"\n", *raw]


def _opened(request: bytes | bytearray) -> tuple[str, str, list[Any]]:
    """The call in these bytes."""
    start = request.index(b"\n") + 1
    module, name, args = json.loads(request[:start])
    for index, part in enumerate(args):
        if isinstance(part, list) and len(part) == 1 and type(part[0]) is int:
            args[index], start = request[start : start + part[0]], start + part[0]
    return module, name, args


def _send(connection: socket.socket, *pieces: bytes) -> None:
    """Send one message, piece by piece: an archive is not copied to be sent."""
    connection.sendall(SIZE.pack(sum(map(len, pieces))) + pieces[0])
    for piece in pieces[1:]:
        connection.sendall(piece)


def _receive(connection: socket.socket, limit: int) -> bytearray:
    """One message. Raises EOFError, OSError, and ValueError where it is larger than `limit` bytes."""
    (size,) = SIZE.unpack(_exactly(connection, SIZE.size))
    if size > limit:
        raise ValueError(size)
    return _exactly(connection, size)


def _exactly(connection: socket.socket, size: int) -> bytearray:
    data = bytearray()
    while len(data) < size:
        piece = connection.recv(min(size - len(data), 1 << 20))
        if not piece:
            raise EOFError
        data += piece
    return data


# In the helper process.


def serve(descriptor: int) -> None:
    """Answer requests until the other side closes the connection."""
    _helper.serving = True
    importlib.import_module("grader.records.introspection")  # the first requests need it
    connection = socket.socket(fileno=descriptor)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)  # the default action ends the process
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process handles Ctrl-C
    base = address_space()
    _limit(base)
    with contextlib.suppress(EOFError, OSError):
        _send(connection, b"ready")
        while True:
            module, name, args = _opened(_receive(connection, sys.maxsize))
            if module not in sys.modules:
                base = _with_module(module, base)
            signal.setitimer(signal.ITIMER_PROF, CPU_S)
            answer = _performed(module, name, tuple(args))
            answer["spent"] = max(CPU_S - signal.setitimer(signal.ITIMER_PROF, 0)[0], 0.0)
            size = address_space()
            answer["last"] = base is not None and size is not None and size > base + KEPT
            data = json.dumps(answer).encode()
            _send(connection, data if len(data) <= MAX_ANSWER else b'{"last": true}')
            if answer["last"]:
                return


def _performed(module: str, name: str, args: tuple[Any, ...]) -> Answer:
    try:
        return {"value": getattr(sys.modules[module], name)(*args)}
    except BadSubmission as error:
        return {"refused": str(error)}
    except Exception:  # MemoryError, RecursionError and anything unforeseen: only this source is affected
        return {}


def _with_module(module: str, base: int | None) -> int | None:
    """Import a module of the grader. Returns the new base: the memory of the import is not charged to a source."""
    before = address_space()
    _limit(None)
    importlib.import_module(module)
    after = address_space()
    base = None if base is None or before is None or after is None else base + after - before
    _limit(base)
    return base


def _limit(base: int | None) -> None:
    """Limit this process to `base` + MEMORY bytes; None removes the limit."""
    _, ceiling = resource.getrlimit(resource.RLIMIT_AS)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (ceiling if base is None else base + MEMORY, ceiling))
