"""What pyproject.toml says about the project: its version, and where it is published."""

import re
import subprocess
import sys
from typing import Any

from grader.catalog import paths

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

UNFILLED = "…"
UNKNOWN = f"https://{UNFILLED}"
GITHUB = "https://github.com/"
NOTEBOOKS = "notebooks"  # a branch, see .github/workflows/ci.yml


def version() -> str:
    """The version of this grader and its exercises: 0.2.0."""
    return str(_project()["version"])


def requirements(extra: str) -> list[str]:
    """What an extra brings, each with the versions that fit: "triton==3.9.*"."""
    return [str(line) for line in _project()["optional-dependencies"][extra]]


def published() -> str:
    """The address of the repository in pyproject.toml, in which a … is still to be filled in."""
    return str(_project()["urls"]["Repository"])


def codespace(repository: str) -> str:
    """Where a click opens a codespace of a repository on GitHub."""
    return f"https://codespaces.new/{repository.removeprefix(GITHUB)}?quickstart=1"


def colab(repository: str, folder: str) -> str:
    """Where a click opens the notebook of an exercise in Colab. CI puts the notebooks into a branch of their own."""
    place = f"{repository.removeprefix(GITHUB)}/blob/{NOTEBOOKS}/{folder}.ipynb"
    return f"https://colab.research.google.com/github/{place}"


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


def _project() -> dict[str, Any]:
    project: dict[str, Any] = tomllib.loads(paths.at_root("pyproject.toml").read_text("utf-8"))["project"]
    return project
