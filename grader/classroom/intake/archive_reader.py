"""One open archive of a stranger in any of the formats: its members and their bytes, under limits."""

from typing import BinaryIO

from grader.classroom.intake.archive_limits import BadArchive, Bounds, reasons
from grader.classroom.intake.tar_format import Tar
from grader.classroom.intake.zip_format import Zip
from grader.records.sanitize import label

CHUNK = 1 << 16  # bytes that are read at once


class Reader:
    """One open archive. members: by name. Raises BadArchive where it is damaged or exceeds the bounds."""

    def __init__(self, name: str, file: BinaryIO, bounds: Bounds) -> None:
        self.file = file
        with reasons():
            self.inner = (Zip if name.lower().endswith(".zip") else Tar)(file, bounds)
        self.members = self.inner.members

    def read(self, name: str, limit: int) -> bytes:
        """The bytes of one member, at most `limit`. Raises BadArchive where it is larger, absent or damaged."""
        entry = self.members.get(name)
        if entry is None or entry.kind != "file":
            raise BadArchive(f"there is no file {label(name)} in it")
        too_large = f"{label(name)} is too large: {entry.size / 1e6:.1f} MB, where {limit / 1e6:.2g} MB is the limit."
        if entry.size > limit:
            raise BadArchive(too_large)
        chunks, size = [], 0
        with reasons(), self.inner.stream(name) as stream:
            while chunk := stream.read(CHUNK):
                chunks.append(chunk)
                size += len(chunk)
                if size > limit:  # the table of contents states a smaller size
                    raise BadArchive(too_large)
        return b"".join(chunks)
