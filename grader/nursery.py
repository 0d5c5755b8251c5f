"""The trusted side's hold on the nursery and its workers: start, ask, kill, with a deadline each."""

import contextlib
import importlib.util
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from dataclasses import asdict, dataclass

from grader import paths
from grader.worker import wire

BOOT = """
import sys, importlib.util as u
folder, *roads = sys.argv[2:]
sys.path += roads
spec = u.spec_from_file_location("worker", folder + "/__init__.py", submodule_search_locations=[folder])
sys.modules["worker"] = module = u.module_from_spec(spec)
spec.loader.exec_module(module)
import worker.nursery
"""
START_S = 60.0  # torch on a cold disk
CONTROL_S = 10.0  # one command to a living nursery
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1",
    "LANG": "C.UTF-8", "HOME": "/nonexistent", "PATH": "/usr/bin:/bin",
    "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
}  # fmt: skip


class InfrastructureError(Exception):
    """The grader could not do its work; nothing is said about the submission (exit code 3)."""


class WorkerEnded(Exception):
    """The worker's process ended before it answered. `status`: exit code, negative for a signal."""

    def __init__(self, status: int | None):
        super().__init__(f"the worker ended with status {status}")
        self.status = status


class TimedOut(Exception):
    """The worker did not answer within its seconds; it has been killed."""


@dataclass(frozen=True)
class Limits:
    """What one worker may use. memory_mb counts above what torch itself takes."""

    call_s: float = 5.0
    total_s: float = 60.0
    cpu_s: int = 60
    memory_mb: int | None = 1024
    open_files: int = 32


class Nursery:
    """A process that has imported torch, ready to fork workers. Starts at once, in the background."""

    def __init__(self, device: str = "cpu"):
        self.device = device
        self._start()

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        environment = dict(ENVIRONMENT)
        for name in ("LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_HOME"):
            if name in os.environ:
                environment[name] = os.environ[name]
        if self.device != "cuda":
            environment["CUDA_VISIBLE_DEVICES"] = ""
        command = [sys.executable, "-I", "-S", "-X", "utf8", "-c", BOOT, str(theirs.fileno())]
        command += [str(paths.WORKER), *_roads()]
        self.process = subprocess.Popen(
            command,
            pass_fds=[theirs.fileno()],
            env=environment,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        theirs.close()
        self.control, self.started = ours, False

    def spawn(self, limits: Limits) -> "Worker":
        """A fresh worker. A nursery that died or hangs is replaced once.

        Raises InfrastructureError where even the second cannot fork one.
        """
        for attempt in (1, 2):
            ours, theirs = socket.socketpair()
            try:
                pid = self._command({"do": "spawn", "limits": asdict(limits)}, theirs)["pid"]
                worker = Worker(self, ours, pid, limits)
                worker.wait_live()
                return worker
            except (OSError, ValueError, KeyError, WorkerEnded, TimedOut) as error:
                ours.close()
                reason = self.close() or str(error)
                if attempt == 2:
                    raise InfrastructureError(f"the worker could not start: {reason}") from None
                self._start()
            finally:
                theirs.close()
        raise AssertionError("unreachable")

    def end(self, pid: int) -> int | None:
        """Kill a worker; its exit status if it had ended by itself."""
        try:
            return self._command({"do": "end", "pid": pid})["status"]
        except (OSError, ValueError, KeyError):
            return None

    def close(self) -> str:
        """End the nursery and all its workers. Returns the last line it wrote to stderr, if any."""
        self.control.close()
        with contextlib.suppress(ProcessLookupError):
            self.process.wait(timeout=2) if self.started else self.process.kill()
        return self._last_words()

    def _last_words(self) -> str:
        try:
            _, stderr = self.process.communicate(timeout=3)
        except (subprocess.TimeoutExpired, ValueError):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            with contextlib.suppress(ValueError):
                self.process.communicate()
            return "the nursery did not answer"
        lines = (stderr or b"").decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else ""

    def _command(self, command: dict, descriptor: socket.socket | None = None) -> dict:
        self.control.settimeout(CONTROL_S if self.started else START_S)
        line = json.dumps(command).encode() + b"\n"
        if descriptor is None:
            self.control.sendall(line)
        else:
            socket.send_fds(self.control, [line], [descriptor.fileno()])
        reply = b""
        while not reply.endswith(b"\n"):
            chunk = self.control.recv(65536)
            if not chunk:
                raise OSError("the nursery ended")
            reply += chunk
        self.started = True
        return json.loads(reply)

    def __enter__(self) -> "Nursery":
        return self

    def __exit__(self, *exception) -> None:
        self.close()


class Worker:
    """One untrusted process. `request` asks it; after an exception it is dead."""

    def __init__(self, nursery: Nursery, connection: socket.socket, pid: int, limits: Limits):
        self.nursery, self.connection, self.pid, self.limits = nursery, connection, pid, limits
        self.alive = True

    def wait_live(self) -> None:
        self._receive(0, time.monotonic() + START_S)

    def request(self, message: dict, tensors: list, seconds: float) -> tuple[dict, list]:
        """The reply to one message.

        Raises TimedOut, WorkerEnded, or wire.ProtocolError where the reply is no reply of ours.
        """
        nonce = secrets.randbits(64)
        deadline = time.monotonic() + seconds
        try:
            wire.send(self.connection, nonce, wire.encode(message, tensors), deadline)
        except wire.Closed:
            raise WorkerEnded(self.close()) from None
        except wire.Deadline:
            self.close()
            raise TimedOut from None
        return self._receive(nonce, deadline)

    def _receive(self, nonce: int, deadline: float) -> tuple[dict, list]:
        try:
            echoed, body = wire.receive(self.connection, deadline)
            if echoed != nonce:
                raise wire.ProtocolError("the reply belongs to no request")
            return wire.decode(body)
        except wire.Closed:
            raise WorkerEnded(self.close()) from None
        except wire.Deadline:
            self.close()
            raise TimedOut from None
        except wire.ProtocolError:
            self.close()
            raise

    def close(self) -> int | None:
        """Kill the process and all that it started. Returns its status if it had ended by itself."""
        if not self.alive:
            return None
        self.alive = False
        status = self.nursery.end(self.pid)
        self.connection.close()
        return status


def _roads() -> list[str]:
    """Where torch and its kin lie: the site-packages folders that this interpreter uses."""
    roads = [road for road in sys.path if road.endswith(("site-packages", "dist-packages"))]
    for name in ("torch", "numpy"):
        spec = importlib.util.find_spec(name)
        if spec and spec.origin:
            roads.append(os.path.dirname(os.path.dirname(spec.origin)))
    return list(dict.fromkeys(roads))
