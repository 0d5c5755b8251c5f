"""Files and folders on disk as the finder walks them: only names and kinds, and no link is followed."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from grader.classroom.intake import archives, beneath
from grader.classroom.intake.beneath import is_too_long

TEXT = 64 << 20  # bytes of a platform's list of its students


@dataclass(frozen=True, slots=True)
class Disk:
    """An entry of a folder on disk; archives.Node offers the same of an archive's.

    kind: "dir", "file", "link", or "other" (pipes, devices); archives have "outside" too (an absolute path, or "..").
    "long" stands for a name of more than beneath.MAX_NAME bytes, which is refused.
    """

    name: str
    kind: str
    place: str
    member = ""

    @property
    def path(self) -> Path:
        return Path(self.place)

    @property
    def modified(self) -> float:
        """Seconds since 1970; 0 where they cannot be read."""
        try:
            return beneath.facts(self.place).st_mtime
        except OSError:
            return 0.0

    def children(self) -> list["Disk"]:
        """The entries of the folder in the order of their names. Raises OSError."""
        entries = (
            Disk(sys.intern(name), "long" if is_too_long(name) else kind, beneath.joined(self.place, name))
            for name, kind in beneath.entries(self.place)
        )
        return sorted(entries, key=lambda entry: entry.name)

    def text(self) -> str:
        """The content as UTF-8 text. Raises NoSuchFile or BadSubmission."""
        return beneath.read(self.place, TEXT).decode("utf-8", "replace")

    def opened(self, download: bool = False) -> archives.Node:
        """The root of this archive. Raises archives.BadArchive."""
        return archives.tree(self.place, download=download)


Entry = Disk | archives.Node


def root(folder: Path) -> Disk:
    """The folder that the instructor names, the only one that may be reached through a link."""
    place = beneath.place(folder)
    kind = "dir" if os.path.isdir(place) else "file"
    return Disk(os.path.basename(os.path.realpath(place)), kind, place)
