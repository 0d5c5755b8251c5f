"""The nursery: a clean process that has imported torch and forks a worker per submission.

It reads commands of the grader from one socket and never a byte that a learner's code wrote.
Started as `python -I -S -c BOOT …`: nothing beside the interpreter, torch and this folder is on
its path.
"""

import contextlib
import gc
import json
import os
import signal
import socket
import sys

import torch

from . import limits, wire
from .executor import Executor


def main(control: socket.socket) -> None:
    """Serve `spawn` and `end` until the grader closes the socket."""
    limits.adopt_orphans()
    warm()
    live: set[int] = set()
    while True:
        line, fds = _receive(control)
        if not line:
            break
        command = json.loads(line)
        if command["do"] == "spawn":
            reply = {"pid": spawn(fds[0], control, command["limits"])}
            live.add(reply["pid"])
        else:
            reply = {"status": end(command["pid"], live)}
        control.sendall(json.dumps(reply).encode() + b"\n")
    for pid in list(live):
        end(pid, live)


def warm() -> None:
    """One thread, and what torch does lazily done once, before any fork.

    A parallel operation before a fork hangs every child (libgomp). The half operation makes torch
    read /proc/cpuinfo, without which a sandboxed child would compute with other rounding.
    """
    torch.set_num_threads(1)
    torch.backends.cpu.get_cpu_capability()
    warmth = torch.ones(2, 2, requires_grad=True)
    (torch.softmax(warmth @ warmth, dim=-1).half().float().sum()).backward()
    torch.nn.Linear(2, 2)
    gc.collect()
    gc.freeze()


def spawn(connection: int, control: socket.socket, asked: dict) -> int:
    """Fork a worker that serves requests on `connection`. Returns its pid."""
    parent = os.getpid()
    pid = os.fork()
    if pid:
        os.close(connection)
        return pid
    try:
        become_worker(connection, asked, parent)
    finally:
        os._exit(70)


def become_worker(connection: int, asked: dict, parent: int) -> None:
    """In the fork: give up everything but the one connection, then answer requests."""
    os.setsid()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(connection, 3) if connection != 3 else None
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    os.closerange(4, 4096)
    os.set_inheritable(3, False)
    limits.die_with_parent(parent)
    limits.apply(asked)
    serve(socket.socket(fileno=3))


def serve(connection: socket.socket) -> None:
    """Answer requests until the grader closes the connection or kills this process."""
    executor = Executor()
    wire.send(connection, 0, wire.encode({"live": torch.__version__}))
    while True:
        nonce, body = wire.receive(connection)
        reply, tensors = executor.handle(*wire.decode(body))
        try:
            body = wire.encode(reply, tensors)
        except (wire.ProtocolError, ValueError):
            body = wire.encode({"value": ["opaque", "a result too large to send"], "banned": [], "output": ""})
        wire.send(connection, nonce, body)


def end(pid: int, live: set[int]) -> int | None:
    """Kill a worker and all that it started. Returns its exit code (negative: the signal)."""
    if pid not in live:
        return None
    live.discard(pid)
    done, status = os.waitpid(pid, os.WNOHANG)
    if not done:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        status = None
    sweep(live)
    return None if status is None else os.waitstatus_to_exitcode(status)


def sweep(live: set[int]) -> None:
    """End orphans: what a worker started and left behind has become this process's child."""
    path = f"/proc/self/task/{os.getpid()}/children"
    while os.path.exists(path):
        with open(path) as children:
            strays = [int(pid) for pid in children.read().split() if int(pid) not in live]
        if not strays:
            return
        for pid in strays:
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)


def _receive(control: socket.socket) -> tuple[bytes, list[int]]:
    try:
        line, fds, _, _ = socket.recv_fds(control, 65536, 1)
    except OSError:
        return b"", []
    while line and not line.endswith(b"\n"):
        more = control.recv(65536)
        if not more:
            return b"", fds
        line += more
    return line, fds


if __name__ == "worker.nursery":  # started by BOOT in grader/nursery.py
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
        main(socket.socket(fileno=int(sys.argv[1])))
