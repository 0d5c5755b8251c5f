"""Keeps the last versions of a file that is about to be replaced."""

import shutil
from datetime import datetime, timezone
from pathlib import Path

FOLDER = "history"
MOST = 10


def keep(path: Path) -> None:
    """Copy a file into history/ beside it, under the time at which it was written; older ones go. Raises OSError."""
    if not path.exists():
        return
    folder = path.with_name(FOLDER)
    folder.mkdir(exist_ok=True)
    time = datetime.fromtimestamp(path.stat().st_mtime, timezone.utc).strftime("%Y-%m-%dT%H-%M-%S-%f")
    shutil.copy2(path, folder / f"{path.stem}-{time}{path.suffix}")
    for old in sorted(folder.glob(f"{path.stem}-*{path.suffix}"))[:-MOST]:
        old.unlink()
