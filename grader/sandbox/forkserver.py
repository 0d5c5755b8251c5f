"""The trusted side's hold on the fork server and its workers: start, ask, kill, with a deadline each."""

import contextlib
import platform
import secrets
import select
import socket
import struct
import time
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from grader.catalog.errors import InfrastructureError
from grader.catalog.limits import Limits
from grader.sandbox import selftest
from grader.sandbox.memory import Meter
from grader.sandbox.process import CONTROL_S, START_S, Lost, Pid, Process, connected, sender
from grader.sandbox.tiers import Sandbox, Tier, Unavailable, choose, weaker
from grader.worker import framing, wire
from grader.worker.lockdown import kernel

AHEAD = 48 << 10  # bytes of requests under way: they fit into a socket's buffer, so that sending never waits
GLANCE_S = 0.1  # so often we look how long a silent worker has computed
FEW_PAGES = 50  # of memory, from one look to the next: who takes no more is in no import
IN_ALL = 2  # times `call_cpu_s`, with new memory or without
SUSPICIOUS_S = 0.3  # of computing without a word, where nothing is decided by it
GRACE_S = 0.3  # for a process that hung up to end, so that we learn how it ended


class WorkerEnded(Exception):
    """The worker's process ended before it answered. `status`: exit code, negative for a signal."""

    def __init__(self, status: int | None):
        super().__init__(f"the worker ended with status {status}")
        self.status = status


class TimedOut(Exception):
    """The worker did not answer within its `seconds`; it has been killed."""

    def __init__(self, seconds: float):
        super().__init__(f"no answer within {seconds:g} s")
        self.seconds = seconds


class ForkServer:
    """A process that has imported torch, ready to fork workers. Starts at once, in the background.

    tier: "A" to "D", or a sandbox.Tier; None takes the strongest that this machine offers.
    """

    def __init__(self, device: str = "cpu", tier: str | Tier | None = None):
        self.device, self.forced = device, tier is not None
        try:
            self.tier = tier if isinstance(tier, Tier) else choose(device, tier)
        except Unavailable as missing:
            raise InfrastructureError(f"this machine has no such sandbox: {missing}") from None
        if self.tier.name == "D":  # nothing else keeps a worker of the same user out of our memory
            kernel.keep_out()
        self.process = Process(self.tier, device)
        self._record: Sandbox | None = None
        self._torch = ""

    @property
    def sandbox(self) -> Sandbox:
        """What is in force here, tried out once. Raises InfrastructureError where trying fails."""
        if self._record is None:
            self._record = self._describe()
        return self._record

    def demand(self, accepted: str | None = None) -> Sandbox:
        """What is in force, fit for others' code. Raises InfrastructureError where it is not.

        accepted: "D" is the instructor's word that no sandbox will do too.
        """
        sandbox = self.sandbox
        if sandbox.holes:
            raise InfrastructureError(
                f"refused to grade: the sandbox (tier {sandbox.tier}) let this through: {', '.join(sandbox.holes)}. "
                "No mark was recorded. See: make doctor, and SECURITY.md"
            )
        if sandbox.tier == "D" and accepted != "D":
            why = "; ".join(sandbox.reasons) or "tier D was asked for"
            raise InfrastructureError(
                f"refused to grade others' code: there is no sandbox here ({why}). No mark was recorded. "
                "See: make doctor. To grade all the same, at your own risk: --accept-tier D"
            )
        return sandbox

    def spawn(self, limits: Limits) -> "Worker":
        """A fresh worker. A fork server that died or hangs is replaced once.

        Raises InfrastructureError where even the second cannot fork one.
        """
        connection, pid, _ = self._fork("spawn", limits)
        return Worker(self, connection, pid, limits)

    def probe(self) -> dict[str, str]:
        """Each forbidden thing, tried in a worker of its own: "refused: why" or "done"."""
        with selftest.bait_files() as bait_files:
            connection, pid, live = self._fork("probe", Limits(), bait_files.facts())
            tried: dict[str, str] = {}
            try:
                deadline = time.monotonic() + START_S
                for expected in (1, 2):
                    nonce, body = framing.receive(connection, deadline)
                    message, _ = wire.decode(body)
                    if nonce != expected or not isinstance(message.get("tried"), dict):
                        raise wire.ProtocolError("the probe answered something else")
                    tried |= {str(name): str(outcome) for name, outcome in message["tried"].items()}
            except framing.Closed:
                if not tried:
                    raise InfrastructureError("the probe of the sandbox ended before it told anything") from None
                tried["run a program"] = "done"  # it became another program, or was killed for trying
            except (wire.ProtocolError, framing.Deadline) as error:
                raise InfrastructureError(f"the probe of the sandbox failed: {error}") from None
            finally:
                self.end(pid)
                connection.close()
            return tried | bait_files.changes() | selftest.arithmetic(live)

    def end(self, pid: Pid) -> int | None:
        """Kill a worker; its exit status if it had ended by itself."""
        try:
            return self._end(pid)
        except Lost:
            return None

    def close(self) -> str:
        """End the fork server and all its workers. Returns the last line it wrote to stderr, if any."""
        return self.process.close()

    def _end(self, pid: Pid, grace: float = 0.0) -> int | None:
        """As `end`. Raises Lost where there is no fork server that could tell: the worker is gone with it."""
        process = self.process
        try:
            status: int | None = process.command({"do": "end", "pid": pid.inside, "grace": grace})["status"]
            return status
        except (OSError, ValueError, KeyError) as error:
            self._replace()
            raise Lost(f"the fork server was lost: {error}") from None

    def _fork(
        self, do: str, limits: Limits, facts: dict[str, Any] | None = None
    ) -> tuple[socket.socket, Pid, dict[str, Any]]:
        """A live fork of the fork server: the connection to it, its pid, what it said of itself."""
        asked = asdict(limits)
        if self.device == "cuda":
            asked |= {"memory_mb": None, "processes": None}  # CUDA maps much and starts threads
        lost = 0
        while True:
            ours, theirs = connected()
            try:
                command = {"do": do, "limits": asked, "facts": facts}
                pid = self.process.command(command, theirs)["pid"]
                theirs.close()
                deadline = time.monotonic() + (CONTROL_S if self.process.warm else START_S)
                pid = Pid(pid, sender(ours, deadline))
                nonce, body = framing.receive(ours, deadline)
                live, _ = wire.decode(body)
                if nonce != 0 or "live" not in live:
                    raise ValueError(str(live.get("failed", "the worker began with something else")))
                self.process.warm, self._torch = True, str(live["live"])
                return ours, pid, live
            except (OSError, ValueError, KeyError, wire.ProtocolError, framing.Deadline) as error:
                ours.close()
                theirs.close()
                never_worked = not self.process.warm
                reason = self._replace(step_down=never_worked) or str(error)
                lost += 0 if never_worked and not self.forced and self._weakened else 1
                if lost == 2:
                    raise InfrastructureError(f"the worker could not start: {reason}") from None

    def _replace(self, step_down: bool = False) -> str:
        """Kill what is left of the fork server and start another. Returns the old one's last words."""
        words = self.process.kill()
        self._weakened = False
        if step_down and not self.forced:
            tier = weaker(self.tier, self.device, words)
            if tier is not None:
                self.tier, self._record, self._weakened = tier, None, True
        self.process = Process(self.tier, self.device)
        return words

    def _describe(self) -> Sandbox:
        tried = self.probe()
        return Sandbox(
            tier=self.tier.name,
            layers=self.tier.layers(),
            reasons=self.tier.reasons,
            torch=self._torch,
            kernel=f"{platform.system()} {platform.release()} {platform.machine()}",
            probe=tried,
            holes=selftest.holes(self.tier, self.device, tried),
        )

    def __enter__(self) -> "ForkServer":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class Worker:
    """One untrusted process, asked by encoded requests (worker/protocol.py). After an exception it is dead."""

    def __init__(self, fork_server: ForkServer, connection: socket.socket, pid: Pid, limits: Limits):
        self.fork_server, self.connection, self.pid, self.limits = fork_server, connection, pid, limits
        self.inbox, self.alive = framing.Inbox(connection), True
        self.meter: Meter | None = None  # of a worker whose memory is measured

    def exchange(self, request: bytes, seconds: float, cpu_s: float | None) -> bytearray:
        """The encoded reply to an encoded request, within `seconds`, of which `cpu_s` may be computed.

        Raises TimedOut, WorkerEnded, wire.ProtocolError where what comes is no reply of ours, and Lost where the fork
        server is gone.
        """
        nonce = secrets.randbits(64)
        with self._mishaps():
            framing.send(self.connection, nonce, request, time.monotonic() + seconds)
            return self._reply(nonce, seconds, cpu_s)

    def exchange_all(
        self, requests: list[bytes], seconds: float, held: frozenset[int] = frozenset()
    ) -> Iterator[bytearray]:
        """The encoded replies to many requests, which are sent ahead of the replies, all but those `held`.

        Raises as `exchange` does. Replies travel together, so a worker that ends or hangs may have answered more; it
        is given up earlier than others, and whoever asks must ask again, one after the other.
        """
        most = self.limits.call_cpu_s and min(self.limits.call_cpu_s, SUSPICIOUS_S)
        nonces = struct.unpack(f"<{len(requests)}Q", secrets.token_bytes(8 * len(requests)))
        sent = under_way = 0
        with self._mishaps():
            for answered, nonce in enumerate(nonces):
                if sent < len(requests) and (sent == answered or under_way <= AHEAD // 2):
                    ahead = []
                    while sent < len(requests) and (
                        sent == answered or (sent not in held and under_way + len(requests[sent]) <= AHEAD)
                    ):
                        ahead.append(framing.frame(nonces[sent], requests[sent]))
                        under_way += len(requests[sent])
                        sent += 1
                    framing.send_all(self.connection, b"".join(ahead), time.monotonic() + seconds)
                yield self._reply(nonce, seconds, most)
                under_way -= len(requests[answered])

    def close(self) -> int | None:
        """Kill the process and all that it started. Returns its status if it had ended by itself."""
        with contextlib.suppress(Lost):
            return self._close()
        return None

    def _reply(self, nonce: int, seconds: float, most: float | None) -> bytearray:
        """The body of the reply with this nonce, of a worker that computes for at most `most` seconds.

        Raises TimedOut or wire.ProtocolError.
        """
        found = self.inbox.take()
        if found is None:
            began = time.monotonic()
            self._wait(began, seconds, most)
            try:
                found = self.inbox.receive(began + seconds)
            except framing.Deadline:
                raise TimedOut(seconds) from None
        echoed, body = found
        if echoed != nonce:
            raise wire.ProtocolError("the reply belongs to no request")
        return body

    def _wait(self, began: float, seconds: float, most: float | None) -> None:
        """Until the worker begins to answer. Raises TimedOut."""
        first = last = None
        while not select.select([self.connection], [], [], min(GLANCE_S, seconds))[0]:
            now = time.monotonic()
            if now - began >= seconds:
                raise TimedOut(seconds)
            if self.meter is not None:
                self.meter.look()
            used = self.pid.used() if most else None
            if most is None or used is None:
                continue
            first = first or used
            if last is None or used.pages - last.pages > FEW_PAGES:
                quiet = used.seconds
            if last is None or used.seconds > last.seconds or not used.asleep:
                awake = now
            last = used
            if max(used.seconds - quiet, now - awake) >= most - GLANCE_S:
                raise TimedOut(most)
            if used.seconds - first.seconds >= IN_ALL * most - GLANCE_S:
                raise TimedOut(IN_ALL * most)

    @contextlib.contextmanager
    def _mishaps(self) -> Iterator[None]:
        """After an exception the worker is dead; one that hung up is asked how it ended."""
        try:
            yield
        except framing.Closed:
            raise WorkerEnded(self._close(GRACE_S)) from None
        except framing.Deadline:
            self.close()
            raise TimedOut(self.limits.call_s) from None
        except (TimedOut, wire.ProtocolError):
            self.close()
            raise

    def _close(self, grace: float = 0.0) -> int | None:
        if not self.alive:
            return None
        self.alive = False
        self.connection.close()
        return self.fork_server._end(self.pid, grace)
