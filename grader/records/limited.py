"""Runs functions marked `@limited` in a helper process, each call under limits: they read what strangers hand in.

Code that reads a stranger's text (Python's parser, a JSON decoder) may take minutes or gigabytes for a few kilobytes,
or crash the process that it runs in. So it runs in a small helper process, which is started at the first call, serves
the following calls and is replaced when it ends. It executes nothing of what it reads. A call and an answer are a line
of JSON each; the bytes to be read, if any, follow the call.
"""

import contextlib
import functools
import importlib
import json
import resource
import signal
import socket
import sys
import threading
from collections import defaultdict
from collections.abc import Callable
from subprocess import DEVNULL, Popen
from typing import Any, ParamSpec, TypeVar, cast

from grader.catalog import paths
from grader.catalog.errors import BadSubmission, InfrastructureError
from grader.records.bounded_cache import BoundedCache
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


class TooMuch(BadSubmission):
    """Reading a submission took more time or memory than one call may take, or all calls about it together."""

    def __init__(self) -> None:
        super().__init__(
            f"Reading it takes more than {CPU_S:g} s or {MEMORY >> 20} MB at once, or {TEXT_CPU_S:g} s in all, as no "
            "answer to an exercise does. Make it shorter and simpler."
        )


def limited(function: Callable[P, R]) -> Callable[P, R]:
    """Decorator: run the function in the helper process.

    It is called with positional arguments of plain data, of which the first may be bytes. Its result passes through
    JSON: a tuple comes back as a list.
    Raises BadSubmission where the function does, TooMuch where it exceeds a limit or breaks, or where all calls about
    its longest text have taken too long, and InfrastructureError where no helper can be started.
    """

    @functools.wraps(function)
    def request(*args: P.args, **kwargs: P.kwargs) -> R:
        if helper.serving:
            return function(*args, **kwargs)
        answer = helper.answer(function.__module__, function.__name__, args)
        if "refused" in answer:
            raise BadSubmission(answer["refused"])
        if "value" not in answer:
            raise TooMuch
        return cast(R, answer["value"])

    return request


class Helper:
    """The client of the helper process. Inside of the helper process only `serving` is used."""

    def __init__(self) -> None:
        self.process: Popen[bytes] | None = None
        self.connection: socket.socket | None = None
        self.ready = False
        self.serving = False
        self.spent = 0.0  # seconds of processor time of all calls; one that was ended counts with its limit
        self.lock = threading.RLock()  # one request at a time, which may start the process
        self.known: BoundedCache[bytes, bytes] = BoundedCache(CACHED)  # answers by call, both encoded
        self.spent_on: defaultdict[int, float] = defaultdict(float)  # seconds, by the hash of a text that takes some

    def start(self) -> socket.socket:
        """The connection to the process, which may still start. Raises InfrastructureError."""
        with self.lock:
            if self.connection is not None:
                return self.connection
            connection, helper_end = socket.socketpair()
            connection.settimeout(WAIT_S)
            command = [sys.executable, "-I", "-X", "utf8", "-c", BOOT, str(paths.ROOT)]
            try:
                self.process = Popen(command, stdin=helper_end.fileno(), stdout=DEVNULL, stderr=DEVNULL)
            except OSError as error:
                raise InfrastructureError(f"no process that reads submissions can start ({error.strerror})") from None
            finally:
                helper_end.close()
            self.connection = connection
            return connection

    def answer(self, module: str, name: str, args: tuple[Any, ...]) -> Answer:
        """The answer to one call, cached where it reads no bytes. Raises InfrastructureError.

        No call is made where those about its longest text have taken too long; the answer is empty.
        """
        data = args[0] if isinstance(args[0], bytes) else None  # an archive, say
        plain, length = (args, None) if data is None else (args[1:], len(data))
        call = json.dumps([module, name, plain, length]).encode() + b"\n"
        text = hash(max((argument for argument in args if isinstance(argument, str)), key=len, default=""))
        with self.lock:
            encoded = self.known.get(call)
            if encoded is None:
                if data is None and self.spent_on.get(text, 0.0) >= TEXT_CPU_S:
                    return {}
                before = self.spent
                encoded = self.ask(call, data or b"")
                if data is None:
                    self.known.put(call, encoded)
                    if self.spent - before > FREE_CPU_S:
                        self.spent_on[text] += self.spent - before
        return cast(Answer, json.loads(encoded))

    def ask(self, call: bytes, data: bytes) -> bytes:
        """The encoded answer to one call; "{}" where the helper ended during it. Raises InfrastructureError."""
        connection = self.start()
        try:
            with connection.makefile("rb") as answers:
                self.ready = self.ready or bool(json.loads(answers.readline()))
                connection.sendall(call)
                connection.sendall(data)  # by itself, so that it is not copied
                encoded = answers.readline(MAX_ANSWER)
            answer: Answer = json.loads(encoded)
        except (OSError, ValueError):  # also where it ended, or the answer is too long
            was_ready = self.ready
            self.close()
            if not was_ready:
                raise InfrastructureError("the process that reads submissions ends at once. See: make doctor") from None
            self.spent += CPU_S
            return b"{}"
        except BaseException:  # Ctrl-C: the answer to this call must not be read as that to the next one
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


helper = Helper()


def serve(descriptor: int) -> None:
    """Answer requests until the grader closes the connection."""
    helper.serving = True
    importlib.import_module("grader.records.forbidden")  # the first requests need it
    connection = socket.socket(fileno=descriptor)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)  # the default action ends the process
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process handles Ctrl-C
    base = address_space()  # None where the system does not say it
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if base is not None:
            resource.setrlimit(resource.RLIMIT_AS, (base + MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    with contextlib.suppress(OSError):
        connection.sendall(b'"ready"\n')
        calls = connection.makefile("rb")
        for line in calls:
            module, name, args, length = json.loads(line)
            if length is not None:
                args.insert(0, calls.read(length))
            importlib.import_module(module)  # not in the time of the call; it takes some megabytes of its memory
            signal.setitimer(signal.ITIMER_PROF, CPU_S)
            answer = _call(module, name, tuple(args))
            answer["spent"] = max(CPU_S - signal.setitimer(signal.ITIMER_PROF, 0)[0], 0.0)
            answer["last"] = (address_space() or 0) - (base or 0) > KEPT
            encoded = json.dumps(answer).encode() + b"\n"
            connection.sendall(encoded if len(encoded) < MAX_ANSWER else b'{"last": true}\n')
            if answer["last"]:
                return


def _call(module: str, name: str, args: tuple[Any, ...]) -> Answer:
    """The result of a call as an Answer, whatever happens."""
    try:
        return {"value": getattr(sys.modules[module], name)(*args)}
    except BadSubmission as error:
        return {"refused": str(error)}
    except Exception:  # MemoryError, RecursionError or an unexpected error: only this source is refused
        return {}
