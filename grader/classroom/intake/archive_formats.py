"""Opens one zip or .tar.gz file of a stranger: its members and their bytes, under limits.

Written by hand around zipfile and tarfile, which have none of these limits.
"""

import contextlib
import gzip
import io
import lzma
import os
import stat
import struct
import tarfile
import time
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, BinaryIO

from grader.catalog.errors import BadSubmission
from grader.records.sanitize import label

SMALL = 16 << 20  # bytes to which any archive may expand
CHUNK = 1 << 16
# An entry of a zip's table of contents: flags, the lengths of the name and of what follows it, where the member begins.
ENTRY, FIELDS, IN_UTF8 = b"PK\1\2", struct.Struct("<4s4xH18x3H8xI"), 0x800
BROKEN = (
    zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, struct.error, EOFError,
    NotImplementedError, RuntimeError, UnicodeError, ValueError, IndexError, OverflowError, MemoryError,
)  # fmt: skip


class BadArchive(BadSubmission):
    """The archive is damaged, encrypted or too large. The text says which."""


@dataclass(frozen=True)
class Bounds:
    """The limits of an archive: entries, bytes in total, and of one read (a zip's table of contents).

    ratio: of expanded to packed bytes, for what expands to more than SMALL; 0: any. A class's download has none, since
    one student's file of zeros would have all others refused. There each member has its own limit.
    """

    entries: int
    total: int
    table: int
    ratio: int = 0


@dataclass(frozen=True, slots=True)
class Entry:
    """The facts that an archive holds about one member."""

    kind: str  # "dir", "file", "link" or "other"
    size: int
    modified: float


class Zip:
    """A zip file."""

    def __init__(self, file: BinaryIO, bounds: Bounds) -> None:
        content = ZipBytes(file, bounds)
        self.archive = zipfile.ZipFile(content)
        content.listing = False
        infos = self.archive.infolist()
        within(bounds, len(infos), sum(info.file_size for info in infos), sum(info.compress_size for info in infos))
        self.members = {info.filename: self._entry(info) for info in infos}
        self.again = Counter(info.filename for info in infos if not info.is_dir())
        self.again.subtract(set(self.again))  # how often each name is repeated; the last entry counts

    @staticmethod
    def _entry(info: zipfile.ZipInfo) -> Entry:
        mode = info.external_attr >> 16 if info.create_system == 3 else 0
        kind = "dir" if info.is_dir() else "file"
        if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
            kind = "link" if stat.S_ISLNK(mode) else "other"
        try:
            modified = time.mktime((*info.date_time, 0, 0, -1))
        except (ValueError, OverflowError):
            modified = 0.0
        return Entry(kind, info.file_size, modified)

    def stream(self, name: str) -> IO[bytes]:
        """A member, open for reading. Raises BadArchive where it is encrypted or packed in a rare way."""
        info = self.archive.getinfo(name)
        if info.flag_bits & 1:
            raise BadArchive(f"{label(name)} is encrypted. Hand it in without a password.")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):  # others unpack without bounds
            raise BadArchive(
                f"{label(name)} is packed in a rare way. Make the zip again with the usual method, Deflate."
            )
        return self.archive.open(info)


class Tar:
    """A .tar.gz. To read its table of contents, all of it is unpacked once, up to the limits."""

    def __init__(self, file: BinaryIO, bounds: Bounds) -> None:
        packed = file.seek(0, os.SEEK_END)
        file.seek(0)
        self.archive = tarfile.open(fileobj=Bounded(gzip.GzipFile(fileobj=file), bounds, packed), mode="r:")  # noqa: SIM115
        self.infos: dict[str, tarfile.TarInfo] = {}
        self.again: Counter[str] = Counter()
        for count, info in enumerate(self.archive, 1):
            within(bounds, count, info.offset_data + info.size, packed)
            self.again[info.name] += info.name in self.infos and not self.infos[info.name].isdir()
            self.infos[info.name] = info
        self.members = {name: self._entry(info) for name, info in self.infos.items()}

    @staticmethod
    def _entry(info: tarfile.TarInfo) -> Entry:
        plain = "file" if info.isreg() and not info.issparse() else "dir" if info.isdir() else "other"
        return Entry("link" if info.issym() or info.islnk() else plain, info.size, float(info.mtime))

    def stream(self, name: str) -> IO[bytes] | None:
        """A regular member, open for reading."""
        return self.archive.extractfile(self.infos[name])


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


class ZipBytes(Bounded):
    """The bytes of a zip, in which no name claims to be UTF-8 that is not.

    zipfile would refuse the whole archive for one such name; without the claim it takes the name as code page 437.
    """

    def __init__(self, file: BinaryIO, bounds: Bounds) -> None:
        super().__init__(file, bounds)
        self.listing = True  # while the table of contents is read
        self.unreadable: set[int] = set()  # where members with such names begin

    def read(self, size: int = -1) -> bytes:
        start, data = self.tell(), super().read(size)
        if self.listing and data.startswith(ENTRY):
            return self._without_claims(data)
        if start in self.unreadable and len(data) >= 8:
            return data[:7] + bytes([data[7] & ~(IN_UTF8 >> 8)]) + data[8:]
        return data

    def _without_claims(self, table: bytes) -> bytes:
        """The table of contents without these claims."""
        plain, start = bytearray(table), 0
        while start + FIELDS.size <= len(table):
            signature, flags, *lengths, member = FIELDS.unpack_from(table, start)
            if signature != ENTRY:
                break
            name = table[start + FIELDS.size : start + FIELDS.size + lengths[0]]
            if flags & IN_UTF8 and name.decode("utf-8", "ignore").encode() != name:
                struct.pack_into("<H", plain, start + 8, flags & ~IN_UTF8)
                self.unreadable.add(member)
            start += FIELDS.size + sum(lengths)
        return bytes(plain)


class Reader:
    """One open archive: its members, and `read`."""

    def __init__(self, name: str, file: BinaryIO, bounds: Bounds) -> None:
        self.file = file
        with reasons():
            self.inner = (Zip if name.lower().endswith(".zip") else Tar)(file, bounds)
        self.members = self.inner.members

    def read(self, name: str, limit: int) -> bytes:
        """The bytes of one member, at most `limit`. Raises BadArchive."""
        entry = self.members.get(name)
        if entry is None or entry.kind != "file":
            raise BadArchive(f"there is no file {label(name)} in it")
        too_large = f"{label(name)} is too large: {entry.size / 1e6:.1f} MB, where {limit / 1e6:.2g} MB is the limit."
        if entry.size > limit:
            raise BadArchive(too_large)
        pieces, size = [], 0
        with reasons(), self.inner.stream(name) as stream:
            while piece := stream.read(CHUNK):
                pieces.append(piece)
                size += len(piece)
                if size > limit:  # the table of contents said less
                    raise BadArchive(too_large)
        return b"".join(pieces)


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
    """Turn whatever the libraries raise for a broken archive into a BadArchive with a reason."""
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
