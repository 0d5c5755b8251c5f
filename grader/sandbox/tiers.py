"""The tiers of the sandbox, strongest first. Finds the strongest that this machine offers, and why none is stronger.

A  bubblewrap, Landlock and a filter of system calls: hidden files do not exist, no network, no processes.
B  Landlock and the filter: hidden files cannot be opened (for containers without user namespaces).
D  a separate process with limits, which protects the verdict, but neither the disk nor the network.
"""

import functools
import os
import platform
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from grader.sandbox import mounts
from grader.sandbox.mounts import Tier
from grader.worker.lockdown import landlock, seccomp

NAMES = ("A", "B", "D")
FIRST_UID, SPARE_UID = 1_879_048_192, 65_533  # user ids that nobody has: systemd leaves both ranges unused
TRIAL_S = 5.0


class Unavailable(Exception):
    """This machine cannot offer the tier. The text says why and what would help."""


@dataclass(frozen=True)
class Sandbox:
    """The sandbox that is in force, for the record of a result."""

    tier: str
    layers: tuple[str, ...]
    reasons: tuple[str, ...]
    torch: str
    kernel: str
    probe: dict[str, str] = field(default_factory=dict)  # the outcome of each forbidden action: "refused: …" or "done"
    holes: tuple[str, ...] = ()  # the actions that succeeded although this tier promises to refuse them


def choose(
    device: str = "cpu", wanted: str | None = None, names: Sequence[str] = NAMES, reasons: tuple[str, ...] = ()
) -> Tier:
    """The strongest tier of these that this machine can offer, or the wanted one. Raises Unavailable.

    reasons: why the tiers before these are not there.
    """
    for name in names if wanted is None else (wanted,):
        try:
            return replace(offer(name, device), reasons=reasons)
        except Unavailable as missing:
            reasons += (f"{name}: {missing}",)
    raise Unavailable("; ".join(reasons))


def weaker(tier: Tier, device: str, why: str) -> Tier:
    """The next tier below one that did not start, with the reason noted. Raises Unavailable below the last."""
    below = NAMES[NAMES.index(tier.name) + 1 :]
    return choose(device, None, below, (*tier.reasons, f"{tier.name}: {why or 'the worker did not start'}"))


def offer(name: str, device: str) -> Tier:
    """One tier as this machine offers it. Raises Unavailable with the reason and what would help."""
    if name not in NAMES:
        raise Unavailable(f"there is no tier {name}; the tiers are A, B and D")
    if not hasattr(os, "fork"):
        raise Unavailable(f"{platform.system()} cannot fork a process; work in WSL 2 (wsl --install)")
    uid = stranger()
    if uid is not None and not strangers_may_read(mounts.everything(), parents=name != "A"):
        uid = None
    if name == "D":
        return Tier("D", uid=uid)
    if platform.system() != "Linux":
        raise Unavailable(f"{platform.system()} has no such walls; run in a Linux container or in WSL 2")
    if seccomp.machine() is None:
        raise Unavailable(f"system calls of {platform.machine()} are not written down (x86_64 and aarch64 are)")
    if not seccomp.available():
        raise Unavailable("this kernel takes no seccomp filter (CONFIG_SECCOMP_FILTER)")
    if not landlock.abi():
        raise Unavailable("this kernel has no Landlock (Linux 5.13 or later with lsm=landlock has)")
    if name == "B":
        return Tier("B", landlock=True, seccomp=True, uid=uid)
    program = shutil.which("bwrap")
    if program is None:
        raise Unavailable("bubblewrap is not installed (apt install bubblewrap, dnf install bubblewrap)")
    tier = Tier("A", program, True, True, uid)
    _try(tier, device)
    return tier


@functools.cache  # a child of the warm process must find the fork servers that run as the one that was drawn there
def stranger() -> int | None:
    """The id of a user that owns no file and that this process can become; None where it is not root, or no Linux."""
    if os.geteuid() != 0 or platform.system() != "Linux":
        return None
    for uid in (FIRST_UID + os.getpid(), SPARE_UID):
        if all(_map(Path(f"/proc/self/{kind}_map"), uid) for kind in ("uid", "gid")):
            return uid
    return None


def strangers_may_read(paths: list[str], parents: bool = False) -> bool:
    """Whether the modes of these paths let any user read them. parents: also test the folders that lead to them."""
    for path in map(Path, paths):
        permissions = 0o005 if path.is_dir() else 0o004
        if path.exists() and path.stat().st_mode & permissions != permissions:
            return False
        if parents and any(not folder.stat().st_mode & 0o001 for folder in path.resolve().parents):
            return False
    return True


def _try(tier: Tier, device: str) -> None:
    """Run bubblewrap once with a program that does nothing, which takes 10 ms. Raises Unavailable where that fails."""
    if (program := shutil.which("true")) is None:
        return
    command = [*mounts.bubblewrap(tier, device), "--", "/true"]
    command[1:1] = ["--ro-bind", os.path.realpath(program), "/true"]
    try:
        process = subprocess.run(command, capture_output=True, timeout=TRIAL_S, env={}, cwd="/", check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"bubblewrap does not run here ({type(error).__name__})") from None
    if process.returncode != 0:
        lines = process.stderr.decode(errors="replace").strip().splitlines()
        raise Unavailable(f"bubblewrap is refused here ({lines[-1][:200] if lines else process.returncode})")


def _map(table: Path, uid: int) -> bool:
    try:
        rows = [tuple(map(int, line.split())) for line in table.read_text().splitlines()]
    except OSError:
        return True
    return any(first_uid <= uid < first_uid + count for first_uid, _, count in rows)
