"""A .tar.gz file of a stranger: its members and their bytes, under limits.

An extended header may precede a member. It is a list of records such as "15 path=a/b.py\\n". tarfile of Python
3.11 searches it with patterns that take quadratic time (mended later, CVE-2024-6232), and copies a global one for each
member. So the records are read here, in one pass, and tarfile sees only those that matter.
"""

import gzip
import os
import tarfile
import time
from collections import Counter
from dataclasses import replace
from typing import IO, BinaryIO

from grader.classroom.intake.archive_limits import BadArchive, Bounded, Bounds, Entry, within

TOTAL, READ = 4 << 30, 1 << 20  # bytes: of the content of any archive, and of one header
BLOCK = 512  # bytes of a member's header
TYPE = slice(156, 157)  # the bytes of a header that hold the type of its member
EXTENDED = (b"x", b"g", b"X")  # these types announce an extended header in the next bytes
KEPT_RECORDS = (b"path", b"size", b"mtime")  # the others are left out
MAX_VALUE = 4096  # bytes of a record's value; a path that is longer is refused in any case
MAX_DIGITS = 20  # digits of a record's length
LIST_S, BYTES_PER_S = 5.0, 1 << 20  # processor time to list an archive, and the packed bytes that add a second to it
CHARSET, IN_UTF8, AS_IT_IS = b"hdrcharset", b"ISO-IR 10646 2000 UTF-8", b"BINARY"


class Tar:
    """A .tar.gz. To read its table of contents, all of it is unpacked once, up to the limits."""

    def __init__(self, file: BinaryIO, bounds: Bounds) -> None:
        packed = file.seek(0, os.SEEK_END)
        file.seek(0)
        bounds = replace(bounds, total=min(bounds.total, TOTAL), table=min(bounds.table, READ))
        content = TarBytes(gzip.GzipFile(fileobj=file), bounds, packed)
        self.archive = tarfile.open(fileobj=content, mode="r:")  # noqa: SIM115
        self.infos: dict[str, tarfile.TarInfo] = {}
        self.repeated: Counter[str] = Counter()
        for count, info in enumerate(self.archive, 1):
            within(bounds, count, info.offset_data + info.size, packed)
            self.repeated[info.name] += info.name in self.infos and not self.infos[info.name].isdir()
            self.infos[info.name] = info
        content.listing = False
        self.members = {name: self._entry(info) for name, info in self.infos.items()}

    @staticmethod
    def _entry(info: tarfile.TarInfo) -> Entry:
        kind = "file" if info.isreg() and not info.issparse() else "dir" if info.isdir() else "other"
        return Entry("link" if info.issym() or info.islnk() else kind, info.size, float(info.mtime))

    def stream(self, name: str) -> IO[bytes] | None:
        """A regular member, open for reading."""
        return self.archive.extractfile(self.infos[name])


class TarBytes(Bounded):
    """The bytes of a tar, in which extended headers are strict and short.

    Raises BadArchive for a damaged header, and where listing takes much longer than it does for an honest archive.
    """

    def __init__(self, file: BinaryIO, bounds: Bounds, packed: int) -> None:
        super().__init__(file, bounds, packed)
        self.listing = True  # whether the headers are being read, and not a member
        self.announced = False  # whether the last block announced an extended header
        self.until = time.thread_time() + LIST_S + packed / BYTES_PER_S

    def read(self, size: int = -1) -> bytes:
        if self.listing and time.thread_time() > self.until:
            raise BadArchive("its table of contents takes too long to read")
        data = super().read(size)
        if self.announced:
            data = strict(data)
            self.announced = False
        else:
            self.announced = self.listing and len(data) == BLOCK and data[TYPE] in EXTENDED
        return data


def strict(header: bytes) -> bytes:
    """An extended header with the records in KEPT alone. Raises BadArchive.

    The character set comes first, because tarfile searches the whole header for it.
    """
    records = {CHARSET: IN_UTF8}
    position = 0
    while header[position : position + 1] not in (b"", b"\0"):
        space = header.find(b" ", position, position + MAX_DIGITS + 1)
        digits = header[position : max(space, position)]
        end = position + int(digits) if digits.isdigit() else 0
        key, equals, value = header[space + 1 : end - 1].partition(b"=")
        if not equals or end > len(header) or header[end - 1 : end] != b"\n":
            raise BadArchive("it is damaged (in an extended header)")
        if key in KEPT_RECORDS or (key == CHARSET and value == AS_IT_IS):
            records[key] = value[:MAX_VALUE]
        position = end
    return b"".join(_record(key, value) for key, value in records.items())


def _record(key: bytes, value: bytes) -> bytes:
    """A record, which begins with its own length."""
    text = b" %s=%s\n" % (key, value)
    length = len(text) + len(str(len(text)))
    length = len(text) + len(str(length))
    return b"%d%s" % (length, text)
