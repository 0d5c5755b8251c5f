"""The fork server: a clean process that has imported torch and forks a worker per submission.

It reads commands of the grader from one socket and never a byte that a learner's code wrote.
Started as `python -I -S -c BOOT …`: nothing beside the interpreter, torch and this folder is on
its path.
"""

import contextlib
import json
import os
import signal
import socket
import sys
import time

import torch

from . import framing, import_filter, loading, protocol, rlimits, warm_up, wire
from .executor import Executor
from .lockdown import kernel, probe
from .lockdown.layers import Lockdown

TOGETHER_S = 0.005  # so long an answer may wait for others
GPU_SHARE = 0.5  # of the card's memory, for one worker


def main(control: socket.socket, plan: dict) -> None:
    """Serve `spawn`, `probe` and `end` until the grader closes the socket.

    `plan` is as lockdown.layers.Lockdown reads it, with the key `parent`: the grader's
    pid where its death shall be ours (None: the closed socket alone tells).
    """
    if plan["parent"] is not None:
        rlimits.die_with_parent(plan["parent"])
    kernel.keep_out()
    import_filter.install(plan["versions"])
    rlimits.adopt_orphans()
    if plan["seccomp"] == "closed":
        warm_up.preload()
    warm_up.warm()
    lockdown = Lockdown(plan)
    if warm_up.threads() != 1:
        raise RuntimeError(f"the fork server runs {warm_up.threads()} threads; a fork of it would hang")
    live: set[int] = set()
    while True:
        line, fds = _receive(control)
        if not line:
            break
        command = json.loads(line)
        if command["do"] in ("spawn", "probe"):
            reply = {"pid": spawn(fds[0], lockdown, command)}
            live.add(reply["pid"])
        else:
            reply = {"status": end(command["pid"], live, command["grace"])}
        control.sendall(json.dumps(reply).encode() + b"\n")
    for pid in list(live):
        end(pid, live)


def spawn(connection: int, lockdown: Lockdown, command: dict) -> int:
    """Fork a worker that serves requests on `connection`, or tries the walls. Returns its pid."""
    parent = os.getpid()
    pid = os.fork()
    if pid:
        os.close(connection)
        return pid
    try:
        become_worker(connection, lockdown, command, parent)
    finally:
        os._exit(70)


def become_worker(connection: int, lockdown: Lockdown, command: dict, parent: int) -> None:
    """In the fork: give up everything but the one connection, then answer requests."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    loading.arm()
    try:
        lockdown.put_on(connection, command["limits"], parent)
    except OSError as error:
        facts = {"failed": f"{type(error).__name__} in {_place(error)}: {error.strerror}"}
        return framing.send(socket.socket(fileno=3), 0, wire.encode(facts))
    served = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, fileno=3)  # to find these out is refused now
    facts = {"live": torch.__version__, "capability": torch.backends.cpu.get_cpu_capability()}
    framing.send(served, 0, wire.encode(facts))
    if command["do"] == "probe":
        framing.send(served, 1, wire.encode({"tried": probe.run(command["facts"])}))
        framing.send(served, 2, wire.encode({"tried": {"run a program": probe.run_a_program()}}))
        return
    if lockdown.device == "cuda":
        share_the_gpu()
    serve(served, command["limits"]["output"])


def share_the_gpu() -> None:
    """Leave memory to others: what the limit of the address space is elsewhere. Untried."""
    with contextlib.suppress(RuntimeError, AssertionError):
        torch.cuda.set_per_process_memory_fraction(GPU_SHARE)


def serve(connection: socket.socket, output: int) -> None:
    """Answer requests until the grader closes the connection or kills this process.

    output: how many characters of the learner's prints are kept.
    """
    executor, inbox = Executor(), framing.Inbox(connection)
    executor.output.room = output
    ready, since = bytearray(), time.monotonic()
    asked = inbox.receive()
    while True:
        nonce, body = asked
        reply, tensors = executor.handle(*protocol.decode_request(body))
        try:
            body = protocol.encode_reply(reply, tensors)
        except (wire.ProtocolError, ValueError):
            body = protocol.encode_reply(protocol.Reply(["opaque", "a result too large to send"]))
        ready += framing.frame(nonce, body)
        now = time.monotonic()
        asked = inbox.take()
        # Short answers travel together where more questions lie here: each journey wakes the grader.
        if asked is None or len(ready) > framing.READ_AHEAD or now - since > TOGETHER_S:
            framing.send_all(connection, ready)
            ready, since = bytearray(), now
        asked = asked or inbox.receive()


def end(pid: int, live: set[int], grace: float = 0.0) -> int | None:
    """Kill a worker and all that it started. Returns its exit code (negative: the signal).

    grace: seconds that one which hung up is given to end by itself, so that its code is known.
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


def _place(error: BaseException) -> str:
    trace = error.__traceback__
    while trace.tb_next is not None:
        trace = trace.tb_next
    return f"{trace.tb_frame.f_code.co_name}, line {trace.tb_lineno}"


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


if __name__ == "worker.server":  # started by BOOT in grader/sandbox/forkserver.py
    _plan = json.loads(sys.argv[1])
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
        main(socket.socket(fileno=_plan["control"]), _plan)
    os._exit(0)  # torch takes a tenth of a second to take itself apart
