"""Finds what this machine has and lacks, and says how to fix each defect."""

import importlib.metadata
import importlib.util
import os
import platform
import shutil
import sys
from dataclasses import dataclass

from grader import folders
from grader.catalog import paths, project
from grader.catalog.errors import InfrastructureError, how_to_install
from grader.desk import progress
from grader.sandbox import tiers
from grader.sandbox.forkserver import ForkServer
from grader.warm import client

ROOM_MB = 200  # free space that reports and notebooks want
# What a learner may miss: each package with what it is for, and the extra that brings it.
WANTED = {"jupytext": ("exercises as notebooks", "notebook"), "triton": ("the exercise on kernels", "triton")}
# Words of a reason why a tier is not available, and what to do about it.
CURES = (
    ("bubblewrap is not installed", "sudo apt install bubblewrap (Fedora: sudo dnf install bubblewrap)"),
    ("uid map", "sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0, or an AppArmor profile for bwrap"),
    (
        "bubblewrap is refused",
        "allow user namespaces; in Docker: --security-opt seccomp=unconfined, or stay with tier B",
    ),
    ("Landlock", "a kernel of 5.13 or later, started with landlock in its lsm= list"),
    ("no such walls", "grade others' code in a Linux container or a virtual machine; for your own code tier D will do"),
)


@dataclass(frozen=True)
class Finding:
    """One fact about this machine. what: its name; ok: nothing needs to be done; fix: what to type otherwise."""

    what: str
    ok: bool
    text: str
    fix: str = ""


def findings() -> list[Finding]:
    """The findings about everything that a user may need, most important first. Takes some seconds."""
    python = Finding("Python", True, f"{platform.python_version()}, {sys.executable}")
    torch = Finding("torch", True, importlib.metadata.version("torch"))
    return [python, *_python_path(), torch, *_sandbox(), _device(), *_disk(), _warm(), *_wanted()]


def text(all_findings: list[Finding]) -> str:
    """The findings for a terminal: a line for each, and a second one where something can be fixed."""
    width = max(len(finding.what) for finding in all_findings)
    lines = []
    for finding in all_findings:
        lines.append(f" {'✔' if finding.ok else '✘'} {finding.what:<{width}}  {finding.text}")
        if finding.fix:
            lines.append(f"   {'':<{width}}  → {finding.fix}")
    return "\n".join(lines)


def _sandbox() -> list[Finding]:
    """The tier of the sandbox, tested by starting it, and the reasons why no better one is available."""
    try:
        tier = tiers.choose()
        with ForkServer() as fork_server:
            record = fork_server.sandbox
    except (tiers.Unavailable, InfrastructureError) as error:
        return [Finding("sandbox", False, str(error), "report this with the text above: see SECURITY.md")]
    layers = ", ".join(record.layers)
    good = record.tier in "AB" and not record.holes
    summary = f"tier {record.tier}: {layers}; {len(record.probe)} forbidden things tried"
    summary += ", all refused as promised" if good else f", open: {', '.join(record.holes)}" if record.holes else ""
    if record.tier == "D":
        summary = f"tier D: {layers}. Fit for your own code alone; `grade` refuses"
    fix = "report this: see SECURITY.md" if record.holes else ""
    sandbox_findings = [Finding("sandbox", good, summary, fix)]
    reasons = record.reasons or tier.reasons
    for reason in reasons:
        cure = next((cure for phrase, cure in CURES if phrase in reason), "")
        sandbox_findings.append(Finding(f"not tier {reason[:1]}", record.tier in "AB", reason[3:], cure))
    return sandbox_findings


def _device() -> Finding:
    import torch

    if torch.cuda.is_available():
        return Finding("device", True, f"cuda: {torch.cuda.get_device_name(0)} (check … --device cuda)")
    if torch.backends.mps.is_available():
        return Finding("device", True, "cpu; mps is there, exercises are graded on the cpu")
    return Finding("device", True, f"cpu ({torch.backends.cpu.get_cpu_capability()}); every exercise runs on it")


def _disk() -> list[Finding]:
    free = shutil.disk_usage(paths.DESK).free >> 20
    words = "can be written" if progress.is_kept() else "cannot be written: checking works, nothing is kept"
    return [
        Finding("disk", free > ROOM_MB, f"{free:,} MB free", "" if free > ROOM_MB else f"free {ROOM_MB} MB"),
        Finding("this folder", True, words),
    ]


def _python_path() -> list[Finding]:
    """What clusters and ROS set, for another Python."""
    ignored = os.environ.get(folders.IGNORED)
    return [Finding("PYTHONPATH", True, f"ignored here: {ignored}")] if ignored else []


def _warm() -> Finding:
    """The process that keeps torch ready between two commands."""
    name = "warm process"
    if not client.is_wanted():
        return Finding(name, True, "off: each command starts by itself")
    from grader.warm import control

    found = control.status()
    now = f"{found[0]}; it ends by itself" if found else "none now; the next make check leaves one, which ends"
    return Finding(name, True, f"{now} after ten idle minutes")


def _wanted() -> list[Finding]:
    found = []
    for name, (purpose, extra) in WANTED.items():
        if importlib.util.find_spec(name):
            found.append(Finding(name, True, importlib.metadata.version(name)))
        elif project.ONLY_ON.get(name, sys.platform) != sys.platform:
            found.append(Finding(name, True, f"only for {project.ONLY_ON[name].title()}; it serves {purpose}"))
        else:
            fix = how_to_install(extra).removeprefix("Type: ")
            found.append(Finding(name, True, f"not installed; it serves {purpose}", fix))
    return found
