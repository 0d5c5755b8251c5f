"""A glob for tests that check every file: one that finds nothing would let everything pass."""

from collections.abc import Iterable
from pathlib import Path


def some(paths: Iterable[Path]) -> list[Path]:
    """The files in order. The test fails where there are none."""
    files = sorted(paths)
    assert files, "no files were found: is the glob right?"
    return files
