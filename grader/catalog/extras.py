"""Packages that an exercise's submissions import besides torch, as `needs` of its exercise.toml names them.

Where one of them is missing, or another version is installed, the exercise is not for this machine: it is neither
passed nor failed.
"""

import functools
import importlib.metadata
import importlib.util
from collections.abc import Sequence

from grader.catalog import project
from grader.catalog.errors import NotForThisMachine, how_to_install

# What an exercise may need: the package, and the extra that brings it, which has the same name.
PACKAGES = {"triton": "Triton, which is there for Linux"}
NOT_HERE = "not for this machine"  # how each such message begins


def known(needs: Sequence[str]) -> tuple[str, ...]:
    """The needs of an exercise. Raises ValueError for one that no extra brings."""
    if unknown := [need for need in needs if need not in PACKAGES]:
        raise ValueError(f"needs = {unknown}: an exercise may need {', '.join(PACKAGES)}")
    return tuple(needs)


def not_here(needs: Sequence[str]) -> str:
    """Why an exercise with these needs is not for this machine, and what to type; "" where all is there."""
    absent = next((need for need in needs if not _is_installed(need)), "")
    if not absent:
        return ""
    found, wanted = _version(absent), _requirement(absent)
    instead = f" Version {found} is installed, and {absent}{wanted} is needed." if found and wanted else ""
    return f"{NOT_HERE}: the exercise needs {PACKAGES[absent]}.{instead} {how_to_install(absent)}"


def demand(needs: Sequence[str]) -> None:
    """Raise NotForThisMachine where a need is not installed."""
    if reason := not_here(needs):
        raise NotForThisMachine(reason)


@functools.cache
def _is_installed(package: str) -> bool:
    if importlib.util.find_spec(package) is None:
        return False
    from packaging.specifiers import SpecifierSet  # who lacks packages is to read so

    return SpecifierSet(_requirement(package)).contains(_version(package) or "0", prereleases=True)


def _requirement(package: str) -> str:
    """The versions of a package that fit, as pyproject.toml names them: "==3.9.*"; "" where there is no such file."""
    try:
        (line,) = project.requirements(package)
    except OSError:
        return ""
    return line.partition(";")[0].removeprefix(package).strip()


def _version(package: str) -> str:
    """The installed version of a package; "" where there is none."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""
