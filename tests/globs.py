"""A glob for tests that check every file: one that finds nothing would let everything pass."""

from collections.abc import Iterable
from pathlib import Path


def some(paths: Iterable[Path]) -> list[Path]:
    files = sorted(paths)
    assert files, "no files were found: is the glob right?"
    return files
