"""The folders that a worker may read, and the command line with which bubblewrap mounts them.

Of the installed packages a worker may read those that torch, numpy and einops are made of, and no others. They are
found in the metadata that installers write, without importing any package.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import os
import sys
import sysconfig
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from grader.catalog import paths
from grader.worker.lockdown import landlock

WANTED = ("torch", "numpy", "einops")
# Folders that are not always in the metadata, as with packages of conda or of a Linux distribution.
COMPANIONS = ("torch.libs", "numpy.libs", "torchgen", "functorch", "nvidia", "triton", "mkl", "intel_openmp")
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
    """{"torch": "/…/site-packages/torch", …}: the path of each top-level file or folder, by its name."""
    folders = _site_folders()
    located: dict[str, str] = {}
    for name, distribution in _required(folders):
        home = [str(distribution.locate_file(""))] if distribution else folders
        for top in (*_top_level(distribution), name.replace("-", "_"), f"{name}.libs"):
            located = _locate(top, home) | located
    for name in COMPANIONS:
        located = _locate(name, folders) | located
    for name in WANTED:
        if name not in located and (origin := _origin(name)):  # an editable or otherwise unusual installation
            located[name] = os.path.dirname(origin)
    return located


@functools.cache
def versions() -> dict[str, str]:
    """{"torch": "2.9.1", …}: the versions of the packages that a worker may read, where the metadata has them."""
    required = _required(_site_folders())
    return {str(name): distribution.version for name, distribution in required if distribution}


def _required(folders: list[str]) -> Iterator[tuple[str, metadata.Distribution | None]]:
    """The wanted packages and their requirements without extras, each once; None for a package without metadata."""
    waiting, required_so_far = list(WANTED), set()
    while waiting:
        name = canonicalize_name(waiting.pop())
        if name in required_so_far:
            continue
        required_so_far.add(name)
        distribution = next(iter(metadata.distributions(name=name, path=folders)), None)
        yield name, distribution
        waiting += _requirements(distribution)


def _requirements(distribution: metadata.Distribution | None) -> Iterator[str]:
    lines = (distribution and distribution.requires) or ()
    for line in (line for line in lines if "extra ==" not in line):  # nine of ten belong to extras; parsing is slow
        with contextlib.suppress(InvalidRequirement):  # old packages have malformed ones
            requirement = Requirement(line)
            if requirement.marker is None or requirement.marker.evaluate():
                yield requirement.name


def _top_level(distribution: metadata.Distribution | None) -> Iterator[str]:
    """The importable names of a distribution, without "" or "..", which would make a whole folder readable."""
    if distribution is None:
        return
    lines = set((distribution.read_text("top_level.txt") or "").split())
    if not lines:  # `distribution.files` takes half a second for torch, and only the first parts are needed
        record = (distribution.read_text("RECORD") or "").splitlines()
        lines = {line.partition(",")[0].partition("/")[0].removesuffix(".py") for line in record}
    yield from (name for name in lines if name.isidentifier() and name != "__pycache__")


def _locate(name: str, folders: list[str]) -> dict[str, str]:
    """The path of the package or module of this name in the first folder that has it, by file name; {} if none."""
    for folder in folders:
        for entry in (name, f"{name}.py"):
            if os.path.exists(path := os.path.join(folder, entry)):
                return {entry: os.path.realpath(path)}
    return {}


def _site_folders() -> list[str]:
    folders = [path for path in sys.path if path.endswith(("site-packages", "dist-packages")) and os.path.isdir(path)]
    if origin := _origin("torch"):
        folders.append(os.path.dirname(os.path.dirname(origin)))
    return list(dict.fromkeys(folders))


def _origin(name: str) -> str | None:
    spec = importlib.util.find_spec(name)
    return spec.origin if spec else None


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
    common: dict[str, object] = {
        "landlock": tier.landlock, "seccomp": tier.seccomp, "uid": tier.uid,
        "device": device, "devices": devices(device), "versions": versions(),
        "parent": None if tier.bwrap else watched_parent(),
    }  # fmt: skip
    readable = [*_libraries(device), *SYSTEM, *DEVICES[1:], *interpreter()]
    readable += (*CUDA_SYSTEM, *CUDA_PROC) if device == "cuda" else ()
    if tier.bwrap:
        return common | {"worker": WORKER, "import_paths": [SITE], "readable": [*readable, SITE, WORKER]}
    packages = closure().values()
    import_paths = list(dict.fromkeys(map(os.path.dirname, packages)))
    return common | {
        "worker": str(paths.WORKER),
        "import_paths": import_paths,
        "readable": [*readable, *packages],
    }


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
