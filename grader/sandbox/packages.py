"""Which installed packages torch and numpy need: these a worker may read, and no others.

Found from what installers wrote down, without importing any of them.
"""

import contextlib
import functools
import importlib.util
import os
import sys
from collections.abc import Iterator
from importlib import metadata

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

WANTED = ("torch", "numpy")
# Folders that an installer does not always write down: conda's and the distributions' packages have some of them.
COMPANIONS = ("torch.libs", "numpy.libs", "torchgen", "functorch", "nvidia", "triton", "mkl", "intel_openmp")


@functools.cache
def closure() -> dict[str, str]:
    """{"torch": "/…/site-packages/torch", …}: each top-level file or folder and where it lies."""
    folders = _site_folders()
    found: dict[str, str] = {}
    for name, distribution in _required(folders):
        home = [str(distribution.locate_file(""))] if distribution else folders
        for top in (*_top_level(distribution), name.replace("-", "_"), f"{name}.libs"):
            found = _lying(top, home) | found
    for name in COMPANIONS:
        found = _lying(name, folders) | found
    for name in WANTED:
        if name not in found and (origin := _origin(name)):  # an editable or otherwise unusual installation
            found[name] = os.path.dirname(origin)
    return found


@functools.cache
def versions() -> dict[str, str]:
    """{"torch": "2.9.1", …}: what a worker may read, as far as installers wrote down a version."""
    required = _required(_site_folders())
    return {str(name): distribution.version for name, distribution in required if distribution}


def _required(folders: list[str]) -> Iterator[tuple[str, metadata.Distribution | None]]:
    """What is wanted and what that requires here, extras aside, each once; None for what was installed otherwise."""
    waiting, seen = list(WANTED), set()
    while waiting:
        name = canonicalize_name(waiting.pop())
        if name in seen:
            continue
        seen.add(name)
        distribution = next(iter(metadata.distributions(name=name, path=folders)), None)
        yield name, distribution
        waiting += _requirements(distribution)


def _requirements(distribution: metadata.Distribution | None) -> Iterator[str]:
    lines = (distribution and distribution.requires) or ()
    for line in (one for one in lines if "extra ==" not in one):  # nine of ten are of extras: too slow to parse
        with contextlib.suppress(InvalidRequirement):  # old packages wrote what is none
            one = Requirement(line)
            if one.marker is None or one.marker.evaluate():
                yield one.name


def _top_level(distribution: metadata.Distribution | None) -> Iterator[str]:
    """The importable names of a distribution; "" or "..", which would give away a whole folder, are none."""
    if distribution is None:
        return
    lines = set((distribution.read_text("top_level.txt") or "").split())
    if not lines:  # not `distribution.files`, which takes half a second for torch: only the first parts are wanted
        record = (distribution.read_text("RECORD") or "").splitlines()
        lines = {line.partition(",")[0].partition("/")[0].removesuffix(".py") for line in record}
    yield from (name for name in lines if name.isidentifier() and name != "__pycache__")


def _lying(name: str, folders: list[str]) -> dict[str, str]:
    """The package or module of this name in the first folder that has it."""
    for folder in folders:
        for entry in (name, f"{name}.py"):
            if os.path.exists(place := os.path.join(folder, entry)):
                return {entry: os.path.realpath(place)}
    return {}


def _site_folders() -> list[str]:
    roads = [road for road in sys.path if road.endswith(("site-packages", "dist-packages")) and os.path.isdir(road)]
    if origin := _origin("torch"):
        roads.append(os.path.dirname(os.path.dirname(origin)))
    return list(dict.fromkeys(roads))


def _origin(name: str) -> str | None:
    spec = importlib.util.find_spec(name)
    return spec.origin if spec else None
