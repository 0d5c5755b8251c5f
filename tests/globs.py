"""Guards look at what a glob finds: a glob that finds nothing would let everything pass."""

from collections.abc import Iterable
from pathlib import Path


def some(found: Iterable[Path]) -> list[Path]:
    """The files in order; there must be some."""
    files = sorted(found)
    assert files, "no files were found: is the glob right?"
    return files
