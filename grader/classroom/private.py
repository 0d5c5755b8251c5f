"""Keeps results from other users of the machine: folders are for their owner alone (0700), and so are files (0600).

A folder with the set-group-ID bit (`chmod 2770 results`) is one that the instructor shares with a group. There the
group keeps its rights.
"""

import contextlib
import csv
import io
import os
import shutil
import stat
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timezone
from pathlib import Path

OWNER, GROUP, EXECUTE = 0o700, 0o070, 0o111
FILE = OWNER & ~EXECUTE  # the mode of a private file
VERSIONS = "history"
MOST = 10


def folder(path: Path) -> None:
    """Make a private folder, or make the one that is there private. Raises OSError."""
    path.mkdir(mode=OWNER, parents=True, exist_ok=True)
    _limit(path, _kept(path))


def append(path: Path, titles: Sequence[str], rows: Iterable[Sequence[str]], errors: str = "strict") -> None:
    """Add rows to a private CSV file in one write, below its titles. Raises OSError.

    errors: as `open` takes it, for characters that UTF-8 does not have.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, FILE)
    with os.fdopen(descriptor, "a", encoding="utf-8", errors=errors, newline="") as file:
        if not path.stat().st_size:
            writer.writerow(titles)
        writer.writerows(rows)
        file.write(text.getvalue())


def everything(path: Path) -> None:
    """Make a file private, or a folder with all that is in it. No link is followed."""
    kept = _kept(path)
    for place in (path, *_below(path)):
        _limit(place, kept)


def keep_version(path: Path) -> None:
    """Copy a file into history/ beside it, under the time at which it was written; older ones go. Raises OSError."""
    if not path.exists():
        return
    folder = path.with_name(VERSIONS)
    folder.mkdir(exist_ok=True)
    time = datetime.fromtimestamp(path.stat().st_mtime, timezone.utc).strftime("%Y-%m-%dT%H-%M-%S-%f")
    shutil.copy2(path, folder / f"{path.stem}-{time}{path.suffix}")
    for old in sorted(folder.glob(f"{path.stem}-*{path.suffix}"))[:-MOST]:
        old.unlink()


def _below(path: Path) -> Iterator[Path]:
    for root, folders, files in os.walk(path):
        yield from (Path(root, name) for name in (*folders, *files))


def _kept(path: Path) -> int:
    """The bits that may stay in the modes of this folder and of what is in it."""
    for place in (path, path.parent):
        with contextlib.suppress(OSError):
            if place.stat().st_mode & stat.S_ISGID:
                return OWNER | GROUP
    return OWNER


def _limit(path: Path, kept: int) -> None:
    """Take all other bits away. Files are never programs."""
    with contextlib.suppress(OSError):  # it is another user's, or the drive has no modes
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            return
        wanted = mode & (kept | stat.S_ISGID) if stat.S_ISDIR(mode) else mode & kept & ~EXECUTE
        if stat.S_IMODE(mode) != wanted:
            path.chmod(wanted)
