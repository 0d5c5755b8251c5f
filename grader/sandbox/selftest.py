"""Bait files and sockets for the probe of a sandbox (worker/lockdown/probe.py), and the evaluation of its outcomes."""

import contextlib
import secrets
import socket
import tempfile
from pathlib import Path
from typing import Any

from grader.catalog import paths
from grader.catalog.errors import InfrastructureError
from grader.sandbox.mounts import Tier

MODES = {"hidden": 0o644, "private": 0o600, "writable": 0o666}
TEXT = b"nobody but the grader reads or changes this\n"
# What a tier does not promise to refuse: Landlock does not hide names.
UNPROMISED = {"A": (), "B": ("see that a hidden file exists",)}
UNPROMISED_ON_CUDA = ("start a thread",)  # CUDA has threads of its own
OTHER_ROUNDING = "compute with other instructions than the grader"


class BaitFiles(contextlib.ExitStack):
    """Files and sockets that nothing in a sandbox may reach, deleted and closed after the block.

    Raises InfrastructureError where no folder is writable.
    """

    def __init__(self) -> None:
        super().__init__()
        try:
            self.folder = Path(self.enter_context(tempfile.TemporaryDirectory(prefix="kata-")))
        except OSError as error:
            raise InfrastructureError(f"the sandbox cannot be tested: {error}") from None
        self.callback(_delete_leftovers)
        self.folder.chmod(0o755)
        for name, mode in MODES.items():
            (self.folder / name).write_bytes(TEXT)
            (self.folder / name).chmod(mode)

    def facts(self) -> dict[str, Any]:
        """Paths, ports and names for the probe: see worker.lockdown.probe.run."""
        tcp, udp = (self._listen(socket.AF_INET, kind) for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM))
        facts: dict[str, Any] = {name: str(self.folder / name) for name in MODES}
        facts |= {"own": str(paths.module("sandbox/forkserver.py")), "abstract": None}
        facts |= {"tcp": tcp.getsockname()[1], "udp": udp.getsockname()[1]}
        with contextlib.suppress(OSError):
            name = f"kata-{secrets.token_hex(8)}"
            self._listen(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + name)
            facts["abstract"] = name
        return facts

    def changes(self) -> dict[str, str]:
        """One more outcome: whether the files are unchanged. This does not depend on what the probe reports."""
        contents = {entry.name: entry.read_bytes() for entry in self.folder.iterdir()}
        unchanged = contents == dict.fromkeys(MODES, TEXT)
        return {"change the grader's files": "refused: they are as they were" if unchanged else "done"}

    def _listen(self, family: int, kind: int, address: str | tuple[str, int] = ("127.0.0.1", 0)) -> socket.socket:
        listener = self.enter_context(socket.socket(family, kind))
        listener.bind(address)
        if kind == socket.SOCK_STREAM:
            listener.listen(4)
        return listener


def arithmetic(live: dict[str, Any]) -> dict[str, str]:
    """One more outcome: whether the worker's torch uses the same processor instructions, so that it rounds alike.

    live: the worker's first message. Without /proc/cpuinfo torch uses slower instructions.
    """
    import torch

    is_same = live.get("capability") == torch.backends.cpu.get_cpu_capability()
    return {OTHER_ROUNDING: "refused: they are the same" if is_same else "done"}


def holes(tier: Tier, device: str, outcomes: dict[str, str]) -> tuple[str, ...]:
    """The actions that succeeded although the tier promises to refuse them. Tier D promises nothing."""
    if tier.name == "D":
        return ()
    unpromised = (*UNPROMISED[tier.name], *(UNPROMISED_ON_CUDA if device == "cuda" else ()))
    return tuple(name for name, outcome in outcomes.items() if outcome == "done" and name not in unpromised)


def _delete_leftovers() -> None:
    """Delete files that the probe could create but not delete."""
    for leftover in Path("/dev/shm").glob("made-by-the-probe-*"):
        with contextlib.suppress(OSError):
            leftover.unlink()
