"""The installed packages that torch, numpy and einops are made of. A worker may read these and no others.

They are found in the metadata that installers write, without importing any package.
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

WANTED = ("torch", "numpy", "einops")
# Folders that are not always in the metadata, as with packages of conda or of a Linux distribution.
COMPANIONS = ("torch.libs", "numpy.libs", "torchgen", "functorch", "nvidia", "triton", "mkl", "intel_openmp")


@functools.cache
def closure() -> dict[str, str]:
    """{"torch": "/…/site-packages/torch", …}: the path of each top-level file or folder, by its name."""
    folders = _site_folders()
    located: dict[str, str] = {}
    for name, distribution in _required(folders):
        home = [str(distribution.locate_file(""))] if distribution else folders
        for top in (*_top_level(distribution), name.replace("-", "_"), f"{name}.libs"):
            located = _located(top, home) | located
    for name in COMPANIONS:
        located = _located(name, folders) | located
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


def _located(name: str, folders: list[str]) -> dict[str, str]:
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
