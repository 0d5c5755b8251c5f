"""Says what this machine has and lacks, and how to fix each defect."""

import importlib.metadata
import importlib.util
import os
import platform
import sys
from collections.abc import Iterator

from grader import folders
from grader.catalog import project
from grader.catalog.errors import InfrastructureError, how_to_install
from grader.sandbox import tiers
from grader.sandbox.forkserver import ForkServer
from grader.warm import client, control

# What a learner may miss: each package with what it is for, and the extra that brings it.
WANTED = {"jupytext": ("exercises as notebooks", "notebook"), "triton": ("the exercise on kernels", "triton")}
CURES = {  # of a reason why a tier is not available, by words of it
    "bubblewrap is not installed": "sudo apt install bubblewrap (Fedora: sudo dnf install bubblewrap)",
    "uid map": "sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0, or an AppArmor profile for bwrap",
    "bubblewrap is refused": "allow user namespaces; in Docker: --security-opt seccomp=unconfined, or stay with tier B",
    "Landlock": "a kernel of 5.13 or later, started with landlock in its lsm= list",
    "no such walls": "grade others' code in a Linux container or a virtual machine; for your own code tier D will do",
}
REPORT = "report this: see SECURITY.md"
THERE, ABSENT, WRONG = "✔", "–", "✘"  # what is absent is not needed
Finding = tuple[str, str, str, str]  # its mark, its name, what is there, what to type or ""


def text() -> str:
    """Two columns: what a user may need, most important first, and below it how to fix it. Takes some seconds."""
    findings = [*_findings()]
    width = max(len(name) for _, name, *_ in findings)
    lines = []
    for mark, name, words, cure in findings:
        lines.append(f" {mark} {name:<{width}}  {words}")
        lines += [f"   {'':<{width}}  → {cure}"] * bool(cure)
    return "\n".join(lines)


def _findings() -> Iterator[Finding]:
    yield THERE, "Python", f"{platform.python_version()}, {sys.executable}", ""
    if ignored := os.environ.get(folders.IGNORED):  # what clusters and ROS set, for another Python
        yield THERE, "PYTHONPATH", f"ignored here: {ignored}", ""
    yield THERE, "torch", importlib.metadata.version("torch"), ""
    yield from _sandbox()
    yield THERE, "device", _device(), ""
    yield THERE, "warm process", _warm(), ""
    for name, (purpose, extra) in WANTED.items():
        if importlib.util.find_spec(name):
            yield THERE, name, importlib.metadata.version(name), ""
        elif project.ONLY_ON.get(name, sys.platform) != sys.platform:
            yield ABSENT, name, f"not for this machine; it serves {purpose}", ""
        else:
            yield ABSENT, name, f"not installed; it serves {purpose}", how_to_install(extra).removeprefix("Type: ")


def _sandbox() -> Iterator[Finding]:
    """The tier of the sandbox, tested by starting it, and the reasons why no better one is available."""
    try:
        tier = tiers.choose()
        with ForkServer() as fork_server:
            record = fork_server.sandbox
    except (tiers.Unavailable, InfrastructureError) as error:
        yield WRONG, "sandbox", str(error), REPORT
        return
    layers, has_walls = ", ".join(record.layers), record.tier in "AB"
    refused = f"open: {', '.join(record.holes)}" if record.holes else "all refused as promised"
    words = f"{layers}; {len(record.probe)} forbidden things tried, {refused}"
    words = words if has_walls else f"{layers}. Fit only for your own code; `grade` refuses"
    mark = THERE if has_walls and not record.holes else WRONG
    yield mark, "sandbox", f"tier {record.tier}: {words}", REPORT * bool(record.holes)
    for reason in record.reasons or tier.reasons:
        cure = next((cure for phrase, cure in CURES.items() if phrase in reason), "")
        yield ABSENT if has_walls else WRONG, f"not tier {reason[:1]}", reason[3:], cure


def _device() -> str:
    import torch

    if torch.cuda.is_available():
        return f"cuda: {torch.cuda.get_device_name(0)} (check … --device cuda)"
    if torch.backends.mps.is_available():
        return "cpu; mps is there, exercises are graded on the cpu"
    return f"cpu ({torch.backends.cpu.get_cpu_capability()}); every exercise runs on it"


def _warm() -> str:
    """The process that keeps torch ready between two commands."""
    if not client.is_wanted():
        return "off: each command starts by itself"
    found = control.status()
    now = f"{found[0]}; it ends by itself" if found else "none now; the next make check leaves one, which ends"
    return f"{now} after ten idle minutes"
