"""What tests need beyond the base install. It is looked for where tests are collected, and imported where it is used.

Every process of xdist collects every file, and nbgrader, nbformat and jsonschema take seconds to import.
"""

import importlib
import importlib.util
from typing import Any

import pytest

from grader.catalog import project
from grader.sandbox import tiers
from grader.sandbox.mounts import Tier


def needed(package: str, extra: str) -> None:
    """Skip the file whose first lines say so, where the package is not installed."""
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:  # no origin: a folder of the tests that has the package's name
        pytest.skip(f"{package} is not installed (extra {extra})", allow_module_level=True)


def skip_unless_here(exercise: Any) -> None:
    """Skip a test of an exercise whose packages are not all installed, as Triton is no part of the extra dev."""
    if reason := project.not_here(exercise.limits.needs):
        pytest.skip(reason)


def demand_tier(name: str) -> Tier:
    """The tier of this name. The test is skipped on a machine that has none."""
    try:
        return tiers.choose(wanted=name)
    except tiers.Unavailable as missing:
        pytest.skip(f"this machine has no tier {name}: {missing}")


class WhenUsed:
    """The module of a name, imported when something of it is asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("_"):  # pytest asks everything in a file for its marks
            raise AttributeError(attribute)
        return getattr(importlib.import_module(self._name), attribute)
