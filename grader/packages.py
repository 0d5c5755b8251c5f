"""Which installed packages torch and numpy need: these a worker may read, and no others.

Found from the lists of requirements that installers leave, without importing anything.
"""

import functools
import importlib.util
import os
import re
import sys

WANTED = ("torch", "numpy")
# Folders that no list of requirements names.
COMPANIONS = ("torch.libs", "numpy.libs", "torchgen", "functorch", "nvidia", "triton", "mkl", "intel_openmp")
METADATA = (".dist-info", ".egg-info")


@functools.cache
def closure() -> dict[str, str]:
    """{"torch": "/…/site-packages/torch", …}: each top-level file or folder and where it lies."""
    folders = _site_folders()
    listed = {folder: os.listdir(folder) for folder in folders}
    installed = {
        _normal(entry.split("-")[0]): (folder, entry)
        for folder in reversed(folders)
        for entry in listed[folder]
        if entry.endswith(METADATA)
    }
    found: dict[str, str] = {}
    waiting, seen = list(WANTED), set()
    while waiting:
        name = _normal(waiting.pop())
        if name in seen:
            continue
        seen.add(name)
        folder, entry = installed.get(name, (None, None))
        top = _top_level(os.path.join(folder, entry), name) if folder else [name]
        waiting += _requirements(os.path.join(folder, entry)) if folder else []
        _add(found, top, [folder] if folder else folders, listed)
    _add(found, COMPANIONS, folders, listed)
    for name in WANTED:
        if name not in found:  # an editable or otherwise unusual installation
            spec = importlib.util.find_spec(name)
            if spec and spec.origin:
                found[name] = os.path.dirname(spec.origin)
    return found


def _site_folders() -> list[str]:
    roads = [road for road in sys.path if road.endswith(("site-packages", "dist-packages")) and os.path.isdir(road)]
    spec = importlib.util.find_spec("torch")
    if spec and spec.origin:
        roads.append(os.path.dirname(os.path.dirname(spec.origin)))
    return list(dict.fromkeys(roads))


def _top_level(metadata: str, name: str) -> list[str]:
    """The importable names of a distribution; its own name where the installer left none."""
    try:
        with open(os.path.join(metadata, "top_level.txt"), encoding="utf-8") as file:
            return [*file.read().split(), f"{name}.libs"]
    except OSError:
        return [name, name.replace("-", "_"), f"{name}.libs"]


def _requirements(metadata: str) -> list[str]:
    """The names that a distribution requires, without its extras."""
    for filename in ("METADATA", "PKG-INFO"):
        try:
            with open(os.path.join(metadata, filename), encoding="utf-8", errors="replace") as file:
                head = file.read().split("\n\n", 1)[0]
        except OSError:
            continue
        lines = re.findall(r"^Requires-Dist: *([\w.-]+)(.*)$", head, re.MULTILINE)
        return [name for name, rest in lines if "extra ==" not in rest]
    return []


def _add(found: dict[str, str], names, folders: list[str], listed: dict[str, list[str]]) -> None:
    for name in names:
        for folder in folders:
            for entry in (name, f"{name}.py"):
                if entry in listed[folder]:
                    found.setdefault(entry, os.path.realpath(os.path.join(folder, entry)))


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "_", name).lower()
