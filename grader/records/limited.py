"""Runs functions marked `@limited` in a helper process, each call under limits: they read what strangers hand in.

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
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from grader.catalog import paths
from grader.catalog.errors import BadSubmission, InfrastructureError
from grader.records.bounded_cache import BoundedCache
from grader.records.lines import Lines
from grader.worker.lockdown.kernel import address_space

MAX_ANSWER = 8 << 20  # bytes
CPU_S = 1.0  # processor time of one call
TEXT_CPU_S = 2.0  # of all calls about one text: a hand-in is read by many functions
FREE_CPU_S = 0.05  # a shorter call is not counted among those of a text
MEMORY = 200 << 20  # bytes that one call may take beyond those that the helper takes after its start
WAIT_S = 60.0  # the longest wait for a start or an answer; on a busy machine the helper waits for a processor
CACHED = 16 << 20  # bytes of questions and answers that are cached
P = ParamSpec("P")
R = TypeVar("R")
Answer = dict[str, Any]  # {"value"} or {"refused"}, and "last" where the helper ends after it
BOOT = "import sys; sys.path.insert(0, sys.argv[1]); from grader.records import limited; limited.serve(0)"
KEPT = 50 << 20  # bytes above the start; a helper that takes more after a call is replaced


def pack(module: str, name: str, args: tuple[Any, ...]) -> tuple[list[Any], list[bytes]]:
    """A call as a message, and its arguments that are bytes."""
    raw = [argument for argument in args if isinstance(argument, bytes)]
    places = [place for place, argument in enumerate(args) if isinstance(argument, bytes)]
    plain = [None if isinstance(argument, bytes) else argument for argument in args]
    return [module, name, plain, places], raw


def unpack(message: list[Any], raw: list[bytes]) -> tuple[str, str, list[Any]]:
    """The module, the name of the function and the arguments of a packed call."""
    module, name, args, places = message
    for place, argument in zip(places, raw, strict=True):
        args[place] = argument
    return module, name, args


class TooMuch(BadSubmission):
    """Reading a submission took more time or memory than one call may take, or all calls about it together."""

    def __init__(self) -> None:
        super().__init__(
            f"Reading it takes more than {CPU_S:g} s or {MEMORY >> 20} MB at once, or {TEXT_CPU_S:g} s in all, as no "
            "answer to an exercise does. Make it shorter and simpler."
        )


def limited(function: Callable[P, R]) -> Callable[P, R]:
    """Decorator: run the function in the helper process.

    It is called with positional arguments of plain data. Its result passes through JSON: a tuple comes back as a list.
    Raises BadSubmission where the function does, TooMuch where it exceeds a limit or breaks, or where all calls about
    its longest text have taken too long, and InfrastructureError where no helper can be started.
    """

    @functools.wraps(function)
    def request(*args: P.args, **kwargs: P.kwargs) -> R:
        if helper.serving:
            return function(*args, **kwargs)
        answer = helper.answer(*pack(function.__module__, function.__name__, args), _text(args))
        if "refused" in answer:
            raise BadSubmission(answer["refused"])
        if "value" not in answer:
            raise TooMuch
        value: R = answer["value"]
        return value

    return request


def spent() -> float:
    """The seconds of processor time that all calls have taken so far. A call that was ended counts with its limit."""
    return helper.spent


def start() -> None:
    """Start the helper process, if there is none, without waiting until it is ready."""
    with helper.lock:
        helper.start()


class Helper:
    """The client of the helper process. Inside of the helper process only `serving` is used."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.connection: socket.socket | None = None
        self.lines: Lines | None = None
        self.ready = False
        self.serving = False
        self.spent = 0.0
        self.lock = threading.Lock()  # one request at a time
        self.answers: BoundedCache[bytes, bytes] = BoundedCache(CACHED)  # by request, both encoded
        self.spent_on: BoundedCache[int, float] = BoundedCache(CACHED)  # seconds, by the hash of a text

    def start(self) -> Lines:
        """The connection to the process, which is started if there is none. Raises InfrastructureError."""
        if self.lines is not None:
            return self.lines
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
        self.connection, self.lines = connection, Lines(connection)
        return self.lines

    def answer(self, request: list[Any], raw: list[bytes], text: int | None = None) -> Answer:
        """The answer to one packed call, cached where the call holds no bytes. Raises InfrastructureError.

        text: the hash of what is read. No call is made where those about it have taken too long; the answer is empty.
        """
        key = None if raw else json.dumps(request).encode()  # an archive is not cached
        with self.lock:
            encoded = self.answers.get(key) if key else None
            if encoded is None:
                spent_on_it = self.spent_on.get(text) or 0.0 if text is not None else 0.0
                if spent_on_it >= TEXT_CPU_S:
                    return {}
                before = self.spent
                encoded = self.ask(request, raw)
                if text is not None and self.spent - before > FREE_CPU_S:
                    self.spent_on.put(text, spent_on_it + self.spent - before)
                if key:
                    self.answers.put(key, encoded)
        answer: Answer = json.loads(encoded)
        return answer

    def ask(self, request: list[Any], raw: list[bytes]) -> bytes:
        """The encoded answer to one request; "{}" where the helper ended during it. Raises InfrastructureError."""
        lines = self.start()
        try:
            if not self.ready:
                self.ready = bool(lines.receive(MAX_ANSWER))
            lines.send(request, *raw)
            answer: Answer = lines.receive(MAX_ANSWER)[0]
        except (OSError, EOFError, ValueError):
            was_ready = self.ready
            self.close()
            if not was_ready:
                raise InfrastructureError("the process that reads submissions ends at once. See: make doctor") from None
            self.spent += CPU_S
            return b"{}"
        except BaseException:  # Ctrl-C: the answer to this request must not be read as that to the next one
            self.close()
            raise
        self.spent += answer.get("spent", 0.0)
        if answer.get("last"):
            self.close()
        return json.dumps(answer).encode()

    def close(self) -> None:
        """End the process, if there is one."""
        if self.connection is not None:
            self.connection.close()
        if self.process is not None:
            self.process.kill()
            self.process.wait()
        self.connection, self.lines, self.process, self.ready = None, None, None, False


helper = Helper()


def serve(descriptor: int) -> None:
    """Answer requests until the grader closes the connection."""
    helper.serving = True
    importlib.import_module("grader.records.forbidden")  # the first requests need it
    lines = Lines(socket.socket(fileno=descriptor))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)  # the default action ends the process
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process handles Ctrl-C
    base = address_space()
    _limit_memory(base)
    with contextlib.suppress(EOFError, OSError):
        lines.send("ready")
        while True:
            module, name, args = unpack(*lines.receive())
            if module not in sys.modules:
                base = _import_unlimited(module, base)
            signal.setitimer(signal.ITIMER_PROF, CPU_S)
            answer = _call(module, name, tuple(args))
            answer["spent"] = max(CPU_S - signal.setitimer(signal.ITIMER_PROF, 0)[0], 0.0)
            size = address_space()
            answer["last"] = base is not None and size is not None and size > base + KEPT
            lines.send(answer if len(json.dumps(answer)) < MAX_ANSWER - 100 else {"last": True})
            if answer["last"]:
                return


def _text(args: tuple[object, ...]) -> int | None:
    """The hash of the longest text among arguments; None where bytes are read, as of an archive, or no text is."""
    texts = [argument for argument in args if isinstance(argument, str)]
    has_bytes = any(isinstance(argument, bytes) for argument in args)
    return hash(max(texts, key=len)) if texts and not has_bytes else None


def _call(module: str, name: str, args: tuple[Any, ...]) -> Answer:
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
