"""The fork server: a process that has imported torch, runs no learner's code, and forks a worker for each submission.

It reads the grader's commands from one socket, and never reads a byte that a learner's code wrote. It is started as
`python -I -S -c BOOT`, so that only the interpreter, torch and this folder are on its import path.
"""

import contextlib
import json
import os
import signal
import socket
import sys
import time
import traceback
from typing import Any, NoReturn

import torch

from . import compiling, framing, kernels, protocol, submitted_source, surroundings, warm_up, wire, without_ready_made
from .executor import Executor
from .lockdown import kernel, probe
from .lockdown.layers import Lockdown

MAX_COMMAND = 1 << 16  # bytes; one is sent at once, and waits for the answer to the one before
GPU_SHARE = 0.5  # the part of the GPU's memory that one worker may use
# What process.py sets for the start of this process, and no learner's code should see.
OUR_SETTINGS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "GLIBC_TUNABLES")


def main(control: socket.socket, plan: dict) -> socket.socket | None:
    """Execute the commands `spawn`, `probe` and `end` until the grader closes the socket: None.

    In a fork: the connection on which it answers requests.

    plan: what lockdown.layers.Lockdown reads, and `parent`, the grader's process id if this process is to end with it.
    Where it is None, this process ends with the socket alone. `needs`: packages that workers have besides torch. Where
    it has `formula`, {"names", "groups"}, no worker has torch's ready-made functions: see without_ready_made.
    """
    kernel.set_signals()
    if plan["parent"] is not None:
        kernel.die_with_parent(plan["parent"])
    kernel.keep_out()
    warm_up.install_finder()
    kernel.adopt_orphans()
    if compiling.NEED in plan["needs"]:
        compiling.begin()
    elif kernels.PACKAGE in plan["needs"]:
        kernels.begin(natively=kernels.are_native(plan))
    if plan["formula"]:  # no worker can open a file
        warm_up.preload()
    warm_up.warm(plan["device"])
    surroundings.install()  # after torch has found none of these modules
    if plan["formula"]:
        without_ready_made.take_out(**plan["formula"])
    for name in OUR_SETTINGS:
        os.environ.pop(name, None)
    sys.argv, sys.orig_argv = [""], ["python"]
    lockdown = Lockdown(plan)
    if (running := warm_up.threads(plan["device"])) != 1:
        raise RuntimeError(f"the fork server runs {running} threads; a fork of it would hang")
    live: set[int] = set()
    answer: dict[str, Any]
    while True:
        try:
            line, fds, _, _ = socket.recv_fds(control, MAX_COMMAND, 1)
        except OSError:
            break
        if not line:
            break
        command = json.loads(line)
        if command["do"] in ("spawn", "probe"):
            pid, served = spawn(fds[0], lockdown, command | {"sealed": bool(plan["formula"])})
            if not pid:
                return served
            answer = {"pid": pid}
            live.add(pid)
        else:
            answer = {"status": end(command["pid"], live, command["grace"])}
        with contextlib.suppress(OSError):  # the grader is gone, as the next command says
            control.sendall(json.dumps(answer).encode() + b"\n")
    for pid in list(live):
        end(pid, live)
    return None


def work(served: socket.socket | None) -> NoReturn:
    """After `main`: answer requests in a fork; end this process."""
    if served is None:
        os._exit(0)  # the usual exit takes a tenth of a second in torch's destructors
    try:
        serve(served)
    finally:
        os._exit(70)


def spawn(connection: int, lockdown: Lockdown, command: dict) -> tuple[int, socket.socket | None]:
    """Fork a worker that answers requests on `connection`, or probes the sandbox. Returns its process id.

    In the fork that is 0, beside the connection, if it answers requests.
    """
    parent = os.getpid()
    pid = os.fork()
    if pid:
        os.close(connection)
        return pid, None
    served = None
    try:
        served = become_worker(connection, lockdown, command, parent)
    finally:
        if served is None:
            os._exit(70)
    return 0, served


def become_worker(connection: int, lockdown: Lockdown, command: dict, parent: int) -> socket.socket | None:
    """In the fork: give up everything except the connection. Returns None where it has nothing more to do."""
    submitted_source.arm()
    try:
        lockdown.put_on(connection, command["limits"], parent)
    except OSError as error:
        frame, line = list(traceback.walk_tb(error.__traceback__))[-1]
        place = f"{frame.f_code.co_name}, line {line}"
        facts = {"failed": f"{type(error).__name__} in {place}: {error.strerror}"}
        framing.send_all(socket.socket(fileno=3), framing.frame(0, wire.encode(facts)))
        return None
    # The family and type are given, because the sandbox refuses the system calls that find them out.
    served = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, fileno=3)
    facts = {"live": torch.__version__, "capability": torch.backends.cpu.get_cpu_capability()}
    framing.send_all(served, framing.frame(0, wire.encode(facts)))
    if command["do"] == "probe":
        framing.send_all(served, framing.frame(1, wire.encode({"tried": probe.run(command["facts"])})))
        framing.send_all(served, framing.frame(2, wire.encode({"tried": {"run a program": probe.run_a_program()}})))
        return None
    # Where memory is measured, the CPU computes: the start of CUDA would count as memory of the learner's.
    if lockdown.device == "cuda" and not command["limits"]["measured"]:
        with contextlib.suppress(RuntimeError, AssertionError):
            torch.cuda.set_per_process_memory_fraction(GPU_SHARE)  # on the CPU the limit of the address space does this
    if command["sealed"]:
        without_ready_made.seal()
    return served


def serve(connection: socket.socket) -> None:
    """Answer requests until the grader closes the connection or kills this process."""
    executor, inbox = Executor(), framing.Inbox(connection)
    while True:
        nonce, body = inbox.receive()
        reply, tensors = executor.handle(*protocol.decode_request(body))
        try:
            encoded = protocol.encode_reply(reply, tensors)
        except (wire.ProtocolError, ValueError):
            encoded = protocol.encode_reply(protocol.Reply(["opaque", "a result too large to send"]))
        framing.send_all(connection, framing.frame(nonce, encoded))


def end(pid: int, live: set[int], grace: float = 0.0) -> int | None:
    """Kill a worker and all processes that it started. Returns its exit code: negative for a signal, None if killed.

    grace: how many seconds a worker that closed its connection gets to end by itself, so that its exit code becomes
    known.
    """
    if pid not in live:
        return None
    live.discard(pid)
    deadline = time.monotonic() + grace
    done, status = os.waitpid(pid, os.WNOHANG)
    while not done and time.monotonic() < deadline:
        time.sleep(0.002)
        done, status = os.waitpid(pid, os.WNOHANG)
    if not done:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    sweep(live)
    return os.waitstatus_to_exitcode(status) if done else None


def sweep(live: set[int]) -> None:
    """Kill the processes that a worker started and left behind. They have become children of this process."""
    path = f"/proc/self/task/{os.getpid()}/children"
    while os.path.exists(path):
        with open(path) as children:
            orphans = [int(pid) for pid in children.read().split() if int(pid) not in live]
        if not orphans:
            return
        for pid in orphans:
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
