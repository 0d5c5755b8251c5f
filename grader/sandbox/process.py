"""The process of the fork server: it is started in the sandbox of a tier, gets commands with a deadline, is killed."""

import contextlib
import json
import os
import re
import signal
import socket
import struct
import subprocess
import time
from typing import Any, NamedTuple

from grader.catalog import Forbidden
from grader.catalog.errors import InfrastructureError
from grader.sandbox import mounts
from grader.sandbox.mounts import Tier

MEBIBYTE = 1 << 20
# The largest resident memory so far, that of now, and the part of it that is code of libraries, as far as it has run.
SIZES = re.compile(r"^(VmHWM|VmRSS|RssFile):\s*(\d+) kB", re.M)  # a line of its own: a learner can name the process
# A torch without CUDA brings in some 20 MiB of its code as it computes, one for CUDA 30 to 45. What is beyond USUAL is
# taken off, and not more than MOST, so that nobody hides much behind a file that they read into memory.
USUAL, MOST = 16 << 20, 48 << 20  # bytes of code
PS_S = 2.0
# Without the garbage collector, which warm_up.warm enables again, torch is imported in nine tenths of the time. The
# library registers functions that each fork calls, for programs whose threads hold locks or share random numbers. The
# fork server has no second thread, and these functions take a third of the time of a fork. The plan comes through the
# socket that is stdin, and no frame below a worker's keeps it: a learner's code reads argv and frames like any other.
BOOT = """
import gc, json, os, socket, sys, importlib.util as u
gc.disable()
os.register_at_fork = lambda **functions: None
control = socket.socket(fileno=os.dup(0))
plan = json.loads(control.makefile("rb", 0).readline())
sys.path += plan["import_paths"]
if plan["formula"]:
    sys.modules["numpy"] = None
spec = u.spec_from_file_location("worker", plan["worker"] + "/__init__.py", submodule_search_locations=[plan["worker"]])
sys.modules["worker"] = module = u.module_from_spec(spec)
spec.loader.exec_module(module)
import worker.server
plan = worker.server.main(control, plan)
worker.server.work(plan)
"""
START_S = 60.0  # torch on a cold disk
CONTROL_S = 10.0  # one command to a living fork server
GLANCE_S = 0.5  # seconds between two tests whether a silent fork server was stopped
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1",
    "LANG": "C.UTF-8", "HOME": "/nonexistent", "PATH": "/usr/bin:/bin",
    "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
    # Large pages make a fork three times as fast. Large blocks are kept for reuse, since new pages cost time.
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold=1073741824:"
    "glibc.malloc.trim_threshold=1073741824",
    "TORCHINDUCTOR_CACHE_DIR": "/tmp",  # torch._dynamo creates this folder on import unless it exists
}  # fmt: skip
TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100  # the kernel's units of processor time per second
ASLEEP = (b"S", b"T", b"t")  # asleep or stopped; not a process that waits for a processor (R) or a disk (D)
CREDENTIALS = struct.Struct("3i")  # process id, user id and group id of a message's sender, as the kernel reports them


class Meter:
    """Measures one process from outside. Where the system keeps no peak value, the largest measurement counts."""

    def __init__(self, pid: int):
        self.pid, self.most, self.code = pid, 0, 0
        self.look()
        self.start, self.code_at_start = self.most, self.code

    @property
    def growth(self) -> float | None:
        """The difference in MiB between the largest and the first measurement; None where the system gives none.

        It is the same for a torch with CUDA and one without, which differ in how much code they bring in.
        """
        if not self.start:
            return None
        code = min(max(self.code - self.code_at_start - USUAL, 0), MOST)
        return (self.most - self.start - code) / MEBIBYTE

    def look(self) -> int | None:
        """Measure now. Returns the bytes of physical memory that the process holds; None where the system says none."""
        sizes = memory(self.pid)
        held = sizes.get("VmRSS")
        self.most = max(self.most, sizes.get("VmHWM", held or 0))
        self.code = max(self.code, sizes.get("RssFile", 0))
        return held


def memory(pid: int) -> dict[str, int]:
    """Bytes of physical memory by Linux's names for them (SIZES), elsewhere only VmRSS; {} where nothing says it."""
    with contextlib.suppress(OSError), open(f"/proc/{pid:d}/status", errors="replace") as status:
        return {name: int(size) << 10 for name, size in SIZES.findall(status.read())}
    with contextlib.suppress(OSError, ValueError, subprocess.TimeoutExpired):
        process = subprocess.run(["ps", "-o", "rss=", "-p", f"{pid:d}"], capture_output=True, timeout=PS_S, check=False)
        return {"VmRSS": int(process.stdout) << 10}
    return {}


class Usage(NamedTuple):
    """Processor seconds and pages of memory that a process has used, and whether it sleeps."""

    seconds: float
    pages: int
    asleep: bool


class Lost(InfrastructureError):
    """The fork server is dead, stopped or silent."""


def used(pid: int) -> Usage | None:
    """The resources that a process has used so far; None on a system without /proc."""
    try:
        fields = _stat(pid)
        return Usage((int(fields[11]) + int(fields[12])) / TICKS, int(fields[21]), fields[0] in ASLEEP)
    except (OSError, ValueError, IndexError):
        return None


def connect() -> tuple[socket.socket, socket.socket]:
    """The two ends of a socket. On Linux, messages that arrive at the first carry the sender's process id."""
    ours, theirs = socket.socketpair()
    if hasattr(socket, "SO_PASSCRED"):
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    return ours, theirs


class Kind(NamedTuple):
    """What two fork servers must have in common so that one can do the work of the other.

    rule: its workers lack the ready-made functions that this rule forbids: see worker.server.main. needs: packages that
    it imports besides torch.
    """

    tier: Tier
    device: str
    rule: Forbidden | None
    needs: tuple[str, ...]


def begin(kind: Kind) -> "Process":
    """A fork server: the one of this kind that is lent to this process, or a new one."""
    return lent.pop(kind, None) or Process(kind)


class Process:
    """One fork server, from start to end."""

    def __init__(self, kind: Kind):
        self.kind = kind
        tier, device, rule, needs = kind
        own_end, server_end = connect()
        kept = ("LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_HOME")
        environment = ENVIRONMENT | {name: os.environ[name] for name in kept if name in os.environ}
        environment |= {"CUDA_CACHE_DISABLE": "1"} if device == "cuda" else {"CUDA_VISIBLE_DEVICES": ""}
        own = {"formula": rule and {"names": rule.names, "groups": rule.allowed}, "needs": needs}
        plan = json.dumps(mounts.plan(tier, device) | own).encode() + b"\n"
        command = [*mounts.bubblewrap(tier, device), "--"] if tier.bwrap else []
        command += [mounts.executable(), "-I", "-S", "-X", "utf8", "-c", BOOT]
        self.process = subprocess.Popen(
            command,
            env=environment,
            cwd="/",
            stdin=server_end.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        server_end.close()
        self.control, self.warm, self.pid = own_end, False, self.process.pid
        with contextlib.suppress(OSError):  # it ended at once, which the first command finds
            own_end.sendall(plan)

    def command(self, command: dict[str, Any], descriptor: socket.socket | None = None) -> dict[str, Any]:
        """Send one command and wait for its reply. Raises OSError where there is none in time."""
        deadline = time.monotonic() + (CONTROL_S if self.warm else START_S)
        line = json.dumps(command).encode() + b"\n"
        self.control.settimeout(GLANCE_S)
        if descriptor is None:
            self.control.sendall(line)
        else:
            socket.send_fds(self.control, [line], [descriptor.fileno()])
        reply = b""
        while not reply.endswith(b"\n"):
            try:
                chunk, pid = receive(self.control, 65536)
            except TimeoutError:
                if self._is_stopped():
                    raise OSError("the fork server was stopped") from None
                if time.monotonic() > deadline:
                    raise OSError("the fork server did not answer") from None
                continue
            if not chunk:
                raise OSError("the fork server ended")
            reply += chunk
            self.pid = pid or self.pid  # which bubblewrap hides otherwise
        answer: dict[str, Any] = json.loads(reply)
        return answer

    def close(self) -> None:
        """Let the fork server end itself and its workers; kill it where it does not within seconds."""
        self.control.close()
        if self.warm:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=0.1 if self._is_stopped() else 2)
        self.kill()

    def kill(self) -> str:
        """End the fork server at once; its workers die with it. Returns the last line of its stderr."""
        self.control.close()
        for pid in {self.pid, self.process.pid} if self.process.poll() is None else ():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        try:
            _, stderr = self.process.communicate(timeout=3)
        except (subprocess.TimeoutExpired, ValueError):
            return ""
        lines = (stderr or b"").decode(errors="replace").strip().splitlines()
        return lines[-1][:300] if lines else ""

    def _is_stopped(self) -> bool:
        try:
            return _stat(self.pid)[0] in (b"T", b"t", b"Z", b"X")
        except OSError:
            return os.path.exists("/proc/self/stat")


class Lent(Process):
    """A fork server of this process's parent (grader/warm/), which keeps it. It is given back instead of ended.

    is_whole: whether it can be used again; it cannot while a reply is on its way, as after Ctrl-C.
    """

    def __init__(self, owner: Process):
        self.process, self.control, self.warm, self.pid = owner.process, owner.control, owner.warm, owner.pid
        self.kind, self.is_whole, self.workers = owner.kind, True, set[int]()

    def command(self, command: dict[str, Any], descriptor: socket.socket | None = None) -> dict[str, Any]:
        """As Process.command, and remember which workers there are."""
        self.is_whole = False
        answer = super().command(command, descriptor)
        self.is_whole = True
        if command["do"] == "end":
            self.workers.discard(command["pid"])
        else:
            self.workers.add(answer["pid"])
        return answer

    def close(self) -> None:
        """End the workers that are left, so that the next one to use it finds it as it was."""
        with contextlib.suppress(OSError, ValueError):
            while self.is_whole and self.workers:
                self.command({"do": "end", "pid": min(self.workers), "grace": 0.0})

    def kill(self) -> str:
        """End the fork server at once. Its owner sees that and starts another."""
        self.is_whole = False
        self.control.close()
        for pid in {self.pid, self.process.pid}:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        return ""


lent: dict[Kind, Lent] = {}  # empty but in a child of the warm process


def _stat(pid: int) -> list[bytes]:
    """What Linux says of a process, from its state on. Raises OSError."""
    with open(f"/proc/{pid:d}/stat", "rb") as stat:
        return stat.read().rpartition(b")")[2].split()


def receive(connection: socket.socket, size: int, flags: int = 0) -> tuple[bytes, int | None]:
    """Some bytes, and the process id of their sender; None on a system that does not report it. Raises OSError."""
    chunk, extra, _, _ = connection.recvmsg(size, socket.CMSG_SPACE(CREDENTIALS.size), flags)
    pids = [
        CREDENTIALS.unpack(data[: CREDENTIALS.size])[0]
        for level, kind, data in extra
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_CREDENTIALS)
    ]
    return chunk, next(filter(None, pids), None)
