"""How much a test tries: of a large choice an even sample, or with THOROUGH=1, as CI does every night, all of it."""

import os
from collections.abc import Iterable
from typing import TypeVar

import pytest

T = TypeVar("T")
THOROUGH = bool(os.environ.get("THOROUGH"))
# For a test that takes very long, beside a shorter one of the same subject.
nightly = pytest.mark.skipif(not THOROUGH, reason="THOROUGH=1 runs it, as CI does every night")


def sample(choice: Iterable[T], most: int) -> list[T]:
    """At most so many of the choice, evenly spread over it and always the same ones; all where tests are thorough."""
    every = list(choice)
    if THOROUGH or len(every) <= most:
        return every
    return [every[number * len(every) // most] for number in range(most)]
