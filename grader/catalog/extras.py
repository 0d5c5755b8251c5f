"""Packages that an exercise's submissions import besides torch, as `needs` of its exercise.toml names them.

Where one of them is missing the exercise is not for this machine: it is neither passed nor failed.
"""

import functools
import importlib.util
from collections.abc import Sequence

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
    return f"{NOT_HERE}: the exercise needs {PACKAGES[absent]}. {how_to_install(absent)}" if absent else ""


def demand(needs: Sequence[str]) -> None:
    """Raise NotForThisMachine where a need is not installed."""
    if reason := not_here(needs):
        raise NotForThisMachine(reason)


@functools.cache
def _is_installed(package: str) -> bool:
    return importlib.util.find_spec(package) is not None
