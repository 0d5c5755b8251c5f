"""Files and folders on disk as the finder walks them: names and kinds alone, links never followed."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from grader import submission
from grader.classroom import archives

TEXT = 64 << 20  # bytes of a platform's list of its students


@dataclass(frozen=True, slots=True)
class Disk:
    """An entry of a folder on disk; archives.Node offers the same of an archive's.

    kind: "dir", "file", "link", or "other" (pipes, devices); archives have "outside" too (an absolute path, or "..").
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
        """Seconds since 1970; 0 where it cannot be told."""
        try:
            return os.lstat(self.place).st_mtime
        except OSError:
            return 0.0

    def children(self) -> list["Disk"]:
        """What lies in the folder, in the order of the names. Raises OSError."""
        with os.scandir(self.place) as entries:
            return sorted((Disk(sys.intern(e.name), _kind(e), e.path) for e in entries), key=lambda entry: entry.name)

    def text(self) -> str:
        return submission.read_bytes(self.path, TEXT).decode("utf-8", "replace")

    def opened(self, download: bool = False) -> archives.Node:
        """The root of this archive. Raises archives.BadArchive."""
        return archives.tree(self.path, download=download)


def root(folder: Path) -> Disk:
    """The folder that the instructor names: the only one that may be reached through a link."""
    place = os.path.abspath(folder)
    kind = "dir" if os.path.isdir(place) else "file"
    return Disk(os.path.basename(os.path.realpath(place)), kind, place)


def _kind(entry: os.DirEntry) -> str:
    if entry.is_symlink():
        return "link"
    if entry.is_dir(follow_symlinks=False):
        return "dir"
    return "file" if entry.is_file(follow_symlinks=False) else "other"
