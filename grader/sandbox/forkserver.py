"""Starts the fork server and its workers, sends them commands, and kills them. Each step has a deadline."""

import contextlib
import functools
import glob
import platform
import socket
import sys
import time
from dataclasses import asdict, replace
from typing import Any, Protocol

from grader.catalog import Forbidden
from grader.catalog.errors import InfrastructureError
from grader.catalog.exercise import Limits
from grader.sandbox import selftest
from grader.sandbox.mounts import Tier
from grader.sandbox.process import CONTROL_S, START_S, Kind, Lost, Process, begin, connect, receive
from grader.sandbox.tiers import Sandbox, Unavailable, choose, weaker
from grader.sandbox.worker_handle import Worker
from grader.worker import framing, wire
from grader.worker.lockdown import kernel

DEVICES = ("auto", "cpu", "cuda", "mps")
CUDA_FILES = 1024  # files that CUDA may open: one process holds its devices many times over.


def pick_device(wanted: str) -> str:
    """The device to grade on. "auto" chooses CUDA or MPS where there is one, and the CPU otherwise.

    Raises InfrastructureError where MPS is wanted on a machine that is no Mac.
    """
    if wanted == "auto":
        if glob.glob("/dev/nvidia[0-9]*"):
            return "cuda"
        return "mps" if sys.platform == "darwin" else "cpu"
    if wanted == "mps" and sys.platform != "darwin":
        raise InfrastructureError("there is no MPS device on this machine. Leave DEVICE out, or: DEVICE=cpu")
    return wanted


def demand_device(device: str) -> None:
    """Raise InfrastructureError where the device is absent."""
    if device != "cuda":
        return
    import torch

    if not torch.cuda.is_available():
        raise InfrastructureError("torch sees no CUDA device here. Leave DEVICE out, or: DEVICE=cpu")


def on_device(limits: Limits, device: str) -> Limits:
    """The limits of a worker for this device. CUDA maps much memory, starts threads, and opens many files."""
    if device != "cuda":
        return limits
    return replace(limits, memory_mb=None, processes=None, open_files=max(limits.open_files, CUDA_FILES))


class Workers(Protocol):
    """What a grading needs of a fork server."""

    def server_for(self, limits: Limits) -> object:
        """Start what workers with these limits come from, in the background."""

    def spawn(self, limits: Limits) -> Worker:
        """A new worker."""


class ForkServer:
    """A process that has imported torch and forks workers. It starts at once, in the background.

    tier: "A" to "D", or a Tier; None takes the strongest that this machine offers. rule: one of an exercise; no
    worker has the ready-made functions that it forbids. needs: packages that its workers have besides torch. Raises
    InfrastructureError where the machine does not offer the tier.
    """

    def __init__(
        self,
        device: str = "cpu",
        tier: str | Tier | None = None,
        rule: Forbidden | None = None,
        needs: tuple[str, ...] = (),
    ):
        self.device, self.forced, self.needs = device, tier is not None, needs
        try:
            self.tier = tier if isinstance(tier, Tier) else choose(device, tier)
        except Unavailable as missing:
            raise InfrastructureError(f"this machine has no such sandbox: {missing}") from None
        if self.tier.name == "D":  # nothing else prevents a worker of the same user from reading the grader's memory
            kernel.keep_out()
        self.rule = rule
        self.process = begin(Kind(self.tier, self.device, self.rule, self.needs))
        import numpy  # noqa: F401 (torch's start imports it in C, which swallows a Ctrl-C: so it comes first here)

        self._others: dict[tuple[str, ...] | None, ForkServer] = {}  # by their packages; None: without ready-made ones
        self._torch = ""

    @functools.cached_property
    def sandbox(self) -> Sandbox:
        """The sandbox that is in force, probed once. Raises InfrastructureError where the probe fails."""
        outcomes = self.probe()
        return Sandbox(
            tier=self.tier.name,
            layers=self.tier.layers(),
            reasons=self.tier.reasons,
            torch=self._torch,
            kernel=f"{platform.system()} {platform.release()} {platform.machine()}",
            probe=outcomes,
            holes=selftest.holes(self.tier, self.device, outcomes),
        )

    def demand(self, accepted: str | None = None) -> Sandbox:
        """The sandbox that is in force. Raises InfrastructureError where it is not sufficient for other people's code.

        accepted: "D" means that the instructor accepts to grade without a sandbox.
        """
        sandbox = self.sandbox
        if sandbox.holes:
            raise InfrastructureError(
                f"refused to grade: the sandbox (tier {sandbox.tier}) let this through: {', '.join(sandbox.holes)}. "
                "No mark was recorded. See: make doctor, and SECURITY.md"
            )
        if sandbox.tier == "D" and accepted != "D":
            reasons = "; ".join(sandbox.reasons) or "tier D was asked for"
            raise InfrastructureError(
                f"refused to grade others' code: there is no sandbox here ({reasons}). No mark was recorded. "
                "See: make doctor. To grade all the same, at your own risk: --accept-tier D"
            )
        return sandbox

    def spawn(self, limits: Limits) -> "Worker":
        """A new worker. A fork server that died or hangs is replaced once.

        Where the limits name packages or a rule, another fork server, which has imported them or lacks what the rule
        forbids, forks it. Raises InfrastructureError where even the second cannot fork one.
        """
        if (server := self.server_for(limits)) is not self:
            return server.spawn(limits)
        inbox, pid, inside, _ = self._fork("spawn", limits)
        return Worker(functools.partial(self._end, inside), inbox, pid)

    def probe(self) -> dict[str, str]:
        """The outcome of each forbidden action, attempted in a separate worker: "refused: why" or "done".

        Raises InfrastructureError where the worker reports nothing.
        """
        with selftest.BaitFiles() as bait_files:
            inbox, _, inside, live = self._fork("probe", Limits(), bait_files.facts())
            outcomes: dict[str, str] = {}
            try:
                deadline = time.monotonic() + START_S
                for expected in (1, 2):
                    nonce, body = inbox.receive(deadline)
                    message, _ = wire.decode(body)
                    if nonce != expected or not isinstance(message.get("tried"), dict):
                        raise wire.ProtocolError("the probe answered something else")
                    outcomes |= {str(name): str(outcome) for name, outcome in message["tried"].items()}
            except framing.Closed:
                if not outcomes:
                    raise InfrastructureError("the probe of the sandbox ended before it told anything") from None
                outcomes["run a program"] = "done"  # another program replaced it, or it was killed for the attempt
            except (wire.ProtocolError, TimeoutError) as error:
                raise InfrastructureError(f"the probe of the sandbox failed: {error}") from None
            finally:
                with contextlib.suppress(Lost):
                    self._end(inside, 0.0)
                inbox.sock.close()
            return outcomes | bait_files.changes() | selftest.arithmetic(live)

    def server_for(self, limits: Limits) -> "ForkServer":
        """The fork server for these limits: this one, or one with their packages or without what their rule forbids.

        It starts at once, in the background. One is kept for all rules: another rule's ends the one before it.
        """
        if (limits.needs, limits.rule) == (self.needs, self.rule):
            return self
        kept = None if limits.rule else limits.needs
        found = self._others.get(kept)
        if found is None or (found.needs, found.rule, found.tier) != (limits.needs, limits.rule, self.tier):
            if found is not None:
                found.close()
            device = "cpu" if limits.rule else self.device
            found = self._others[kept] = ForkServer(device, self.tier, limits.rule, limits.needs)
        return found

    def processes(self) -> list[Process]:
        """The processes of this fork server, and of those without ready-made functions and with packages."""
        return [self.process, *(other.process for other in self._others.values())]

    def keep(self, needs: tuple[str, ...], rules: tuple[Forbidden, ...]) -> None:
        """Start what an exercise will ask for, in the background, and end what it will not.

        A fork server is a hundred megabytes. needs: packages of its workers; rules: its own.
        """
        for others in self._others.keys() - {needs} - ({None} if rules else set()):
            self._others.pop(others).close()
        for limits in (Limits(needs=needs), *(Limits(rule=rule) for rule in rules[:1])):
            self.server_for(limits)

    def close(self) -> None:
        """End the fork server and all its workers."""
        for other in self._others.values():
            other.close()
        self.process.close()

    def _end(self, inside: int, grace: float) -> int | None:
        """Kill a worker. Returns its exit status if it had ended by itself within `grace` seconds, else None.

        inside: its id for the fork server. Raises Lost where that is gone, and the worker with it.
        """
        try:
            status: int | None = self.process.command({"do": "end", "pid": inside, "grace": grace})["status"]
            return status
        except (OSError, ValueError, KeyError) as error:
            self._replace()
            raise Lost(f"the fork server was lost: {error}") from None

    def _fork(
        self, do: str, limits: Limits, facts: dict[str, Any] | None = None
    ) -> tuple[framing.Inbox, int, int, dict[str, Any]]:
        """A live fork of the fork server: what it sends, its process id here and there, and its first message.

        do: the command, "spawn" or "probe". facts: for the probe. Raises InfrastructureError where the second fork
        server fails too.
        """
        fork_limits = asdict(on_device(limits, self.device))
        failures = 0
        while True:
            own_end, worker_end = connect()
            try:
                command = {"do": do, "limits": fork_limits, "facts": facts}
                with worker_end:
                    inside: int = self.process.command(command, worker_end)["pid"]
                seconds = CONTROL_S if self.process.warm else START_S
                deadline = time.monotonic() + seconds
                own_end.settimeout(seconds)
                _, pid = receive(own_end, 1, socket.MSG_PEEK)
                nonce, body = (inbox := framing.Inbox(own_end)).receive(deadline)
                live, _ = wire.decode(body)
                if nonce != 0 or "live" not in live:
                    raise ValueError(str(live.get("failed", "the worker began with something else")))
                self.process.warm, self._torch = True, str(live["live"])
                return inbox, pid or inside, inside, live
            except (OSError, ValueError, KeyError, wire.ProtocolError) as error:
                own_end.close()
                tier = self.tier
                reason = self._replace(step_down=not self.process.warm) or str(error)
                failures += self.tier is tier  # a weaker one is a new start
                if failures == 2:
                    raise InfrastructureError(f"the worker could not start: {reason}") from None

    def _replace(self, step_down: bool = False) -> str:
        """Kill the fork server and start another. Returns the last line that the old one wrote to stderr.

        step_down: start it in the next weaker tier, unless the tier was chosen by the caller.
        """
        last_line = self.process.kill()
        if step_down and not self.forced:
            with contextlib.suppress(Unavailable):
                self.tier = weaker(self.tier, self.device, last_line)
                vars(self).pop("sandbox", None)
        self.process = begin(Kind(self.tier, self.device, self.rule, self.needs))
        return last_line

    def __enter__(self) -> "ForkServer":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
