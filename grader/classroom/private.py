"""Keeps results from other users of the machine: folders have the mode 0700, files 0600.

A folder with the set-group-ID bit (`chmod 2770 results`) is shared with a group, which keeps its rights there.
"""

import contextlib
import os
import stat
from pathlib import Path

from grader.records import safe_files

OWNER, GROUP, FILE = 0o700, 0o070, 0o600
IGNORED = ".gitignore"


def folder(path: Path) -> None:
    """Make a private folder that git ignores, or make the one that is there private. Raises OSError."""
    path.mkdir(mode=OWNER, parents=True, exist_ok=True)
    everything(path, deep=False)
    if not (path / IGNORED).exists():
        safe_files.write_whole(path / IGNORED, "*\n", mode=FILE)


def everything(path: Path, deep: bool = True) -> None:
    """Make a folder private, with all that is in it if `deep`. No link is followed."""
    with contextlib.suppress(OSError):
        kept = OWNER | GROUP if path.stat().st_mode & stat.S_ISGID else OWNER
        _limit(path, kept)
        for root, folders, files in os.walk(path) if deep else ():
            for name in (*folders, *files):
                _limit(Path(root, name), kept)


def _limit(path: Path, kept: int) -> None:
    """Take all other bits away. Files are never programs."""
    with contextlib.suppress(OSError):  # another user's, or the drive has no modes
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            return
        wanted = mode & (kept | stat.S_ISGID) if stat.S_ISDIR(mode) else mode & kept & ~0o111
        if stat.S_IMODE(mode) != wanted:
            path.chmod(wanted)
