"""The folders that a worker may read, and the command line with which bubblewrap mounts them.

Of the installed packages a worker may read those that torch, numpy and einops are made of, and no others.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import sys
import sysconfig
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from grader.catalog import paths
from grader.worker.lockdown import landlock

# What torch, numpy and einops import, however they were installed. A test compares it with torch's own metadata.
PACKAGES = (
    "torch", "numpy", "einops", "torch.libs", "numpy.libs", "torchgen", "functorch", "nvidia", "cuda", "triton", "mkl",
    "intel_openmp", "filelock", "fsspec", "jinja2", "markupsafe", "mpmath", "networkx", "setuptools", "sympy",
    "typing_extensions",
)  # fmt: skip
LIBRARIES = (
    "/usr/lib", "/usr/lib64", "/usr/lib32", "/usr/local/lib", "/usr/local/lib64", "/lib", "/lib64", "/lib32",
    "/nix/store", "/gnu/store",
)  # fmt: skip
SYSTEM = ("/etc/ld.so.cache", "/sys/devices/system/cpu", "/sys/devices/system/node")
HUGE_PAGES = "/sys/kernel/mm/transparent_hugepage"  # glibc of the fork server reads it; workers do not need it
DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")
SITE, WORKER = "/opt/site", "/opt/worker"  # where tier A mounts the packages and grader/worker
# Additional paths for CUDA. On an H200 the parts that tier B uses were tried.
CUDA_LIBRARIES = ("/usr/local/cuda", "/opt/cuda", "/usr/local/nvidia", "/run/opengl-driver", "/usr/lib/wsl")
CUDA_SYSTEM = ("/sys/bus/pci", "/sys/devices", "/sys/module")
CUDA_PROC = ("/proc/driver/nvidia", "/proc/devices", "/proc/meminfo", "/proc/cpuinfo", "/proc/sys/vm")
CUDA_DEVICES = ("nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "nvidia-modeset", "nvidia-caps", "dxg")


@functools.cache
def closure() -> dict[str, str]:
    """{"torch": "/…/site-packages/torch", …}: the path of each of the packages' folders and files, by its name."""
    folders = [path for path in sys.path if path.endswith(("site-packages", "dist-packages")) and os.path.isdir(path)]
    for name in ("torch", "numpy", "einops"):  # one may be installed from its sources
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin:
            folders.append(os.path.dirname(os.path.dirname(spec.origin)))
    located = dict[str, str]()
    for name in PACKAGES:
        places = [os.path.join(folder, entry) for folder in folders for entry in (name, f"{name}.py")]
        if path := next(filter(os.path.exists, places), ""):  # in the first folder that has it
            located[os.path.basename(path)] = os.path.realpath(path)
    return located


@dataclass(frozen=True)
class Tier:
    """One tier as this machine offers it. uid: the user that workers become (None: they keep the grader's)."""

    name: str
    bwrap: str | None = None
    landlock: bool = False
    seccomp: bool = False
    uid: int | None = None
    reasons: tuple[str, ...] = ()  # why the machine offers no stronger tier

    def layers(self) -> tuple[str, ...]:
        """The names of the tier's layers, for the record of a result."""
        layers = {
            "bubblewrap": self.bwrap, "Landlock": self.landlock, "seccomp": self.seccomp, "own user": self.uid,
        }  # fmt: skip
        return (*(name for name, is_used in layers.items() if is_used), "limits", "own process")


def everything() -> list[str]:
    """The paths that a worker reads: the interpreter's library, torch and what it requires, grader/worker."""
    return [*interpreter(), *closure().values(), str(paths.WORKER)]


def interpreter() -> list[str]:
    """The library folders and the executable of the running Python."""
    base = Path(sys.base_prefix)
    variables = {"platbase": sys.base_exec_prefix, "base": sys.base_prefix}
    folders = [str(base / "lib"), str(base / "lib64")]
    folders += [sysconfig.get_path(kind, vars=variables) for kind in ("stdlib", "platstdlib")]
    folders = [folder for folder in dict.fromkeys(folders) if folder and os.path.isdir(folder)]
    return [*(folder for folder in folders if not _inside(folder, folders)), executable()]


def executable() -> str:
    """The path of the interpreter. In a virtual environment, the one that its link leads to."""
    return os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)


def plan(tier: Tier, device: str) -> dict[str, object]:
    """The plan of the fork server, which is sent as JSON: see worker.server.main, and process.BOOT for the others."""
    readable = [*_libraries(device), *SYSTEM, *DEVICES[1:], *interpreter()]
    readable += (*CUDA_SYSTEM, *CUDA_PROC) if device == "cuda" else ()
    packages = [SITE, WORKER] if tier.bwrap else [*closure().values()]
    return {
        "landlock": tier.landlock, "seccomp": tier.seccomp, "uid": tier.uid,
        "device": device, "devices": devices(device),
        "parent": None if tier.bwrap else watched_parent(),
        "worker": WORKER if tier.bwrap else str(paths.WORKER),
        "import_paths": [SITE] if tier.bwrap else [*dict.fromkeys(map(os.path.dirname, packages))],
        "readable": [*readable, *packages],
    }  # fmt: skip


def bubblewrap(tier: Tier, device: str) -> list[str]:
    """The command line of bubblewrap up to the program. It mounts only the folders that a worker may read."""
    arguments = [tier.bwrap or "", "--new-session", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"]
    arguments += ["--unshare-cgroup-try", "--cap-drop", "ALL"]
    if os.geteuid() != 0:
        arguments += ["--unshare-user"]
    elif tier.uid is not None:  # the fork server stays root inside, to change the user of its forks and to end them
        arguments += [argument for power in ("SETUID", "SETGID", "KILL") for argument in ("--cap-add", f"CAP_{power}")]
    if watched_parent() is not None:
        arguments += ["--die-with-parent"]
    libraries = _libraries(device)
    system = (*SYSTEM, HUGE_PAGES, *(CUDA_SYSTEM if device == "cuda" else ()))
    binds = [*libraries, *interpreter(), *system, f"{SITE}/x", "/tmp/x"]
    parents = {parent for path in binds for parent in map(str, Path(path).parents)}
    for folder in sorted({*parents, "/dev", "/proc"} - {"/", *libraries}):  # otherwise only root could read them
        if not _inside(folder, libraries):
            arguments += ["--dir", folder]
    for folder in libraries:
        if os.path.islink(folder):
            arguments += ["--symlink", os.readlink(folder), folder]
        elif os.path.isdir(folder):
            arguments += ["--ro-bind", folder, folder]
    for path in interpreter():
        if path not in libraries and not _inside(path, libraries):
            arguments += ["--ro-bind", path, path]
    for folder in _installed(libraries):
        arguments += ["--tmpfs", folder]
    for name, path in closure().items():
        arguments += ["--ro-bind", path, f"{SITE}/{name}"]
    arguments += ["--ro-bind", str(paths.WORKER), WORKER, "--proc", "/proc"]
    for path in system:
        arguments += ["--ro-bind-try", path, path]
    for path in (*DEVICES, *devices(device)):
        arguments += ["--dev-bind-try", path, path]
    return [*arguments, "--remount-ro", "/", "--chdir", "/"]


def devices(device: str) -> list[str]:
    """The device files that CUDA needs."""
    if device != "cuda":
        return []
    cards = sorted(str(card) for card in Path("/dev").glob("nvidia[0-9]*"))
    return [*cards, *(f"/dev/{name}" for name in CUDA_DEVICES if os.path.exists(f"/dev/{name}"))]


def watched_parent() -> int | None:
    """This process's id where its end can be signalled to a child, else None.

    The kernel signals the end of the thread that started the child, so only the main thread's counts.
    """
    main = threading.current_thread() is threading.main_thread()
    return os.getpid() if main and sys.platform == "linux" else None


def _libraries(device: str) -> tuple[str, ...]:
    return (*LIBRARIES, *(CUDA_LIBRARIES if device == "cuda" else ()))


def _installed(libraries: tuple[str, ...]) -> list[str]:
    """Folders of installed packages inside the mounted ones, and this repository if it is there.

    They are all hidden. Of the packages, those that a worker may read are then mounted again.
    """
    roots = {str(Path(path).resolve()) for path in (*libraries, *interpreter()) if os.path.isdir(path)}
    starts = [start for root in sorted(roots) for start in (Path(root), *Path(root).glob("python3*"))]
    installed = [str(start / name) for start in starts for name in landlock.INSTALLED if (start / name).is_dir()]
    return [*installed, *([str(paths.ROOT)] if _inside(str(paths.ROOT), roots) else [])]


def _inside(path: str, folders: Iterable[str]) -> bool:
    return any(path.startswith(folder + os.sep) for folder in folders)
