"""The trusted side's hold on the fork server and its workers: start, ask, kill, with a deadline each."""

import platform
import socket
import time
from dataclasses import asdict
from typing import Any

from grader.catalog.errors import InfrastructureError
from grader.catalog.limits import Limits
from grader.sandbox import selftest
from grader.sandbox.process import CONTROL_S, START_S, Lost, Pid, Process, connected, sender
from grader.sandbox.tiers import Sandbox, Tier, Unavailable, choose, weaker
from grader.sandbox.worker_handle import Worker
from grader.worker import framing, wire
from grader.worker.lockdown import kernel


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
