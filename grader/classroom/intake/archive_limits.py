"""The limits of a stranger's archive, and the reasons why one is refused.

zipfile and tarfile, around which zip_format.py and tar_format.py are written, have no limits of their own.
"""

import contextlib
import gzip
import io
import lzma
import os
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from grader.catalog.errors import BadSubmission

SMALL = 16 << 20  # bytes to which every archive may expand
BROKEN = (
    zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, struct.error, EOFError,
    NotImplementedError, RuntimeError, UnicodeError, ValueError, IndexError, OverflowError, MemoryError,
)  # fmt: skip


class BadArchive(BadSubmission):
    """The archive is damaged, encrypted or too large. The text says which."""


@dataclass(frozen=True)
class Bounds:
    """The limits of an archive. entries, total: the most entries and expanded bytes.

    table: the most bytes of one read, as of a zip's table of contents; ratio: the most expanded bytes for each packed
    byte, in an archive that expands to more than SMALL; 0 sets no limit. A class's download has no ratio, because one
    student's file of zeros would cause the refusal of all others. There each member has its own limit.
    """

    entries: int
    total: int
    table: int
    ratio: int = 0


@dataclass(frozen=True, slots=True)
class Entry:
    """The facts that an archive states about one member. size: in bytes; modified: seconds since 1970."""

    kind: str  # "dir", "file", "link" or "other"
    size: int
    modified: float


class Bounded(io.RawIOBase):
    """A file that raises BadArchive for a read or a seek beyond the bounds. packed: the bytes of the packed file."""

    def __init__(self, file: BinaryIO, bounds: Bounds, packed: int | None = None) -> None:
        self.file, self.bounds, self.packed = file, bounds, packed

    def read(self, size: int = -1) -> bytes:
        most = self.bounds.table
        everything = size is None or size < 0
        data = self.file.read(most + 1 if everything else min(size, most))
        if len(data) > most or (not everything and size > most):
            raise BadArchive(f"its table of contents is larger than {most >> 20} MB")
        return data

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        if whence == os.SEEK_SET and self.packed is not None:
            within(self.bounds, 0, offset, self.packed)
        return self.file.seek(offset, whence)

    def tell(self) -> int:
        return self.file.tell()

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True


def within(bounds: Bounds, entries: int, total: int, packed: int) -> None:
    """Raise BadArchive where entries, total bytes or the ratio of total to packed bytes exceed the bounds."""
    if entries > bounds.entries:
        raise BadArchive(f"it holds more than {bounds.entries:,} entries. Hand in the exercises alone")
    if total > bounds.total:
        raise BadArchive(f"it expands to more than {bounds.total >> 20:,} MB. Hand in the exercises alone")
    if bounds.ratio and total > SMALL and total > bounds.ratio * max(packed, 1):
        raise BadArchive(f"it expands more than {bounds.ratio} times, as zip bombs do. Hand in the exercises alone")


@contextlib.contextmanager
def reasons() -> Iterator[None]:
    """Turn every exception that the libraries raise for a damaged archive into a BadArchive with a reason."""
    try:
        yield
    except BadSubmission:
        raise
    except OSError as error:
        raise BadArchive(f"it cannot be read: {error.strerror or 'it is damaged'}") from None
    except BROKEN as error:
        if isinstance(error, RuntimeError) and "password" in str(error):
            raise BadArchive("it is encrypted. Hand it in without a password.") from None
        raise BadArchive(f"it is damaged, or packed in a way that is not understood ({type(error).__name__})") from None
