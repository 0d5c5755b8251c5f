"""What pyproject.toml says about the project: its version, where it is published, and what its exercises may need.

Some exercises' submissions import packages besides torch, as `needs` of exercise.toml names them. Where one is missing,
or another version is installed, the exercise is not for this machine: it is neither passed nor failed.
"""

import functools
import importlib.metadata
import importlib.util
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from grader.catalog import paths
from grader.catalog.errors import NotForThisMachine, how_to_install

UNFILLED = "…"
UNKNOWN = f"https://{UNFILLED}"
# What an exercise may need: the package, and the extra that brings it, which has the same name.
PACKAGES = {"triton": "Triton"}
ONLY_ON = {"triton": "linux"}  # the system for which there is a package
NOT_HERE = "not for this machine"  # how each such message begins


def read_toml(path: Path) -> dict[str, Any]:
    """What a TOML file says. Raises OSError and ValueError."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib  # here, since `make help` runs before anything is installed
    table: dict[str, Any] = tomllib.loads(path.read_text("utf-8"))
    return table


def version() -> str:
    """The version of this grader and its exercises: 0.2.0."""
    return str(_project()["version"])


def requirement(package: str) -> str:
    """The versions of a package that fit, as pyproject.toml names them in the extra of its name: ">=3.7,<3.10"."""
    (line,) = _project()["optional-dependencies"][package]
    return str(line).partition(";")[0].removeprefix(package).strip()


def published() -> str:
    """The address of the repository in pyproject.toml, in which a … is still to be filled in."""
    return str(_project()["urls"]["Repository"])


def address() -> str:
    """The address of the repository: where pyproject.toml has none yet, that of this clone; UNKNOWN without either."""
    if UNFILLED not in published():
        return published()
    command = ["git", "-C", str(paths.PROJECT), "config", "--get", "remote.origin.url"]
    try:
        found = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:  # no git
        return UNKNOWN
    return found if re.fullmatch(r"https://[\w.:/~-]+", found) else UNKNOWN  # not one with a password


def known_needs(needs: Sequence[str]) -> tuple[str, ...]:
    """The needs of an exercise. Raises ValueError for one that no extra brings."""
    if unknown := [need for need in needs if need not in PACKAGES]:
        raise ValueError(f"needs = {unknown}: an exercise may need {', '.join(PACKAGES)}")
    return tuple(needs)


def not_here(needs: Sequence[str]) -> str:
    """Why an exercise with these needs is not for this machine, and what to type; "" where all is there."""
    absent = next((need for need in needs if not _is_installed(need)), "")
    if not absent:
        return ""
    needs_it = f"{NOT_HERE}: the exercise needs {PACKAGES[absent]}"
    if ONLY_ON.get(absent, sys.platform) != sys.platform:
        return f"{needs_it}, which there is only for {ONLY_ON[absent].title()}."
    found = _installed_version(absent)
    lacks = f"in a version {requirement(absent)}, and {found} is installed" if found else "which is not installed"
    return f"{needs_it}, {lacks}. {how_to_install(absent)}"


def demand_needs(needs: Sequence[str]) -> None:
    """Raise NotForThisMachine where a need is not installed."""
    if reason := not_here(needs):
        raise NotForThisMachine(reason)


@functools.cache
def _is_installed(package: str) -> bool:
    if importlib.util.find_spec(package) is None:
        return False
    from packaging.specifiers import SpecifierSet  # who lacks packages is to read so

    return SpecifierSet(requirement(package)).contains(_installed_version(package) or "0", prereleases=True)


def _project() -> dict[str, Any]:
    project: dict[str, Any] = read_toml(paths.at_root("pyproject.toml"))["project"]
    return project


def _installed_version(package: str) -> str:
    """The installed version of a package; "" where there is none."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""
