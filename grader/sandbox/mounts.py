"""What a worker can see: the folders it may read, and bubblewrap's command line around them."""

from __future__ import annotations

import os
import sys
import sysconfig
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from grader.catalog import paths
from grader.sandbox import packages
from grader.worker.lockdown import landlock

if TYPE_CHECKING:
    from grader.sandbox.tiers import Tier  # which imports this module

LIBRARIES = (
    "/usr/lib", "/usr/lib64", "/usr/lib32", "/usr/local/lib", "/usr/local/lib64", "/lib", "/lib64", "/lib32",
    "/nix/store", "/gnu/store",
)  # fmt: skip
SYSTEM = ("/etc/ld.so.cache", "/sys/devices/system/cpu", "/sys/devices/system/node")
HUGE_PAGES = "/sys/kernel/mm/transparent_hugepage"  # glibc reads there whether it may use large pages; workers need not
DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")
SITE, WORKER = "/opt/site", "/opt/worker"  # what tier A calls the packages and our worker's folder

# For CUDA beside these. Untried: no GPU was at hand.
CUDA_LIBRARIES = ("/usr/local/cuda", "/opt/cuda", "/usr/local/nvidia", "/run/opengl-driver", "/usr/lib/wsl")
CUDA_SYSTEM = ("/sys/bus/pci", "/sys/devices", "/sys/module")
CUDA_PROC = ("/proc/driver/nvidia", "/proc/devices", "/proc/meminfo", "/proc/cpuinfo", "/proc/sys/vm")
CUDA_DEVICES = ("nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "nvidia-modeset", "nvidia-caps", "dxg")


def everything() -> list[str]:
    """What a worker reads: the interpreter's library, torch and its kin, our worker's folder."""
    return [*interpreter(), *packages.closure().values(), str(paths.WORKER)]


def interpreter() -> list[str]:
    """The running Python's own library folders and executable."""
    base = Path(sys.base_prefix)
    own = {"platbase": sys.base_exec_prefix, "base": sys.base_prefix}
    found = [str(base / "lib"), str(base / "lib64")]
    found += [sysconfig.get_path(kind, vars=own) for kind in ("stdlib", "platstdlib")]
    found = [place for place in dict.fromkeys(found) if place and os.path.isdir(place)]
    return [*(p for p in found if not _inside(p, found)), executable()]


def executable() -> str:
    """The interpreter itself; a virtual environment's is a link to it."""
    return os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)


def plan(tier: Tier, device: str, control: int) -> dict[str, object]:
    """What the fork server must know, as JSON: where it reads, whom it becomes, what it refuses."""
    here = {
        "control": control, "landlock": tier.landlock, "seccomp": tier.seccomp, "uid": tier.uid,
        "device": device, "devices": devices(device), "versions": packages.versions(),
        "parent": None if tier.bwrap else watched_parent(),
    }  # fmt: skip
    readable = [*_libraries(device), *SYSTEM, *DEVICES[1:], *interpreter()]
    readable += (*CUDA_SYSTEM, *CUDA_PROC) if device == "cuda" else ()
    if tier.bwrap:
        return here | {"worker": WORKER, "roads": [SITE], "readable": [*readable, SITE, WORKER]}
    closure = packages.closure()
    roads = list(dict.fromkeys(os.path.dirname(path) for path in closure.values()))
    return here | {"worker": str(paths.WORKER), "roads": roads, "readable": [*readable, *closure.values()]}


def bubblewrap(tier: Tier, device: str) -> list[str]:
    """The command line up to the program: a world that holds what a worker may see."""
    words = [tier.bwrap or "", "--new-session", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"]
    words += ["--unshare-cgroup-try", "--cap-drop", "ALL"]
    if os.geteuid() != 0:
        words += ["--unshare-user"]
    elif tier.uid is not None:  # the fork server stays root there, to make its forks strangers and to end them
        words += [word for power in ("SETUID", "SETGID", "KILL") for word in ("--cap-add", f"CAP_{power}")]
    if watched_parent() is not None:
        words += ["--die-with-parent"]
    libraries = _libraries(device)
    system = (*SYSTEM, HUGE_PAGES, *(CUDA_SYSTEM if device == "cuda" else ()))
    binds = [*libraries, *interpreter(), *system, f"{SITE}/x", "/tmp/x"]
    parents = {parent for place in binds for parent in map(str, Path(place).parents)}
    for folder in sorted({*parents, "/dev", "/proc"} - {"/", *libraries}):  # else root makes them for itself alone
        if not _inside(folder, libraries):
            words += ["--dir", folder]
    for folder in libraries:
        if os.path.islink(folder):
            words += ["--symlink", os.readlink(folder), folder]
        elif os.path.isdir(folder):
            words += ["--ro-bind", folder, folder]
    for place in interpreter():
        if place not in libraries and not _inside(place, libraries):
            words += ["--ro-bind", place, place]
    for folder in _installed(libraries):
        words += ["--tmpfs", folder]
    for name, place in packages.closure().items():
        words += ["--ro-bind", place, f"{SITE}/{name}"]
    words += ["--ro-bind", str(paths.WORKER), WORKER, "--proc", "/proc"]
    for place in system:
        words += ["--ro-bind-try", place, place]
    for place in (*DEVICES, *devices(device)):
        words += ["--dev-bind-try", place, place]
    return [*words, "--remount-ro", "/", "--chdir", "/"]


def devices(device: str) -> list[str]:
    """The device files that CUDA needs."""
    if device != "cuda":
        return []
    cards = sorted(str(card) for card in Path("/dev").glob("nvidia[0-9]*"))
    return [*cards, *(f"/dev/{name}" for name in CUDA_DEVICES if os.path.exists(f"/dev/{name}"))]


def watched_parent() -> int | None:
    """Our pid, where our death may be watched for: the kernel watches the thread, not the process."""
    main = threading.current_thread() is threading.main_thread()
    return os.getpid() if main and sys.platform == "linux" else None


def _libraries(device: str) -> tuple[str, ...]:
    return (*LIBRARIES, *(CUDA_LIBRARIES if device == "cuda" else ()))


def _installed(libraries: tuple[str, ...]) -> list[str]:
    """Folders of installed packages inside what is bound: all are hidden, torch's kin come back.

    So is this repository, should somebody keep it there.
    """
    roots = {str(Path(place).resolve()) for place in (*libraries, *interpreter()) if os.path.isdir(place)}
    starts = [start for root in sorted(roots) for start in (Path(root), *Path(root).glob("python3*"))]
    found = [str(start / name) for start in starts for name in landlock.INSTALLED if (start / name).is_dir()]
    return [*found, *([str(paths.ROOT)] if _inside(str(paths.ROOT), roots) else [])]


def _inside(place: str, folders: Iterable[str]) -> bool:
    return any(place.startswith(folder + os.sep) for folder in folders)
