"""A zip file of a stranger: its members and their bytes, under limits."""

import stat
import struct
import time
import zipfile
from collections import Counter
from typing import IO, BinaryIO

from grader.classroom.intake.archive_limits import BadArchive, Bounded, Bounds, Entry, within
from grader.records.sanitize import label

# An entry of a zip's table of contents: flags, lengths of the name, the extra field and the comment, member's offset.
ENTRY, FIELDS, IN_UTF8 = b"PK\1\2", struct.Struct("<4s4xH18x3H8xI"), 0x800


class Zip:
    """A zip file."""

    def __init__(self, file: BinaryIO, bounds: Bounds) -> None:
        content = ZipBytes(file, bounds)
        self.archive = zipfile.ZipFile(content)
        content.listing = False
        infos = self.archive.infolist()
        within(bounds, len(infos), sum(info.file_size for info in infos), sum(info.compress_size for info in infos))
        self.members = {info.filename: self._entry(info) for info in infos}
        self.repeated = Counter(info.filename for info in infos if not info.is_dir())
        self.repeated.subtract(set(self.repeated))  # how often each name is repeated; the last entry counts

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
        if info.compress_type not in (
            zipfile.ZIP_STORED,
            zipfile.ZIP_DEFLATED,
        ):  # others have no limits
            raise BadArchive(
                f"{label(name)} is packed in a rare way. Make the zip again with the usual method, Deflate."
            )
        return self.archive.open(info)


class ZipBytes(Bounded):
    """The bytes of a zip file, without the UTF-8 flag of each name that is not UTF-8.

    zipfile would refuse the whole archive because of one such name. Without the flag it reads code page 437.
    """

    def __init__(self, file: BinaryIO, bounds: Bounds) -> None:
        super().__init__(file, bounds)
        self.listing = True  # whether the table of contents is being read
        self.unreadable: set[int] = set()  # the offsets of members with such names

    def read(self, size: int = -1) -> bytes:
        start, data = self.tell(), super().read(size)
        if self.listing and data.startswith(ENTRY):
            return self._without_flags(data)
        if start in self.unreadable and len(data) >= 8:
            return data[:7] + bytes([data[7] & ~(IN_UTF8 >> 8)]) + data[8:]
        return data

    def _without_flags(self, table: bytes) -> bytes:
        """The table of contents without these flags."""
        plain_table, start = bytearray(table), 0
        while start + FIELDS.size <= len(table):
            signature, flags, *lengths, member = FIELDS.unpack_from(table, start)
            if signature != ENTRY:
                break
            name = table[start + FIELDS.size : start + FIELDS.size + lengths[0]]
            if flags & IN_UTF8 and name.decode("utf-8", "ignore").encode() != name:
                struct.pack_into("<H", plain_table, start + 8, flags & ~IN_UTF8)
                self.unreadable.add(member)
            start += FIELDS.size + sum(lengths)
        return bytes(plain_table)
