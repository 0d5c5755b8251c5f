"""The situations of golden.toml, with their files, for the tests that need a file as somebody hands it in."""

import atexit
import functools
import shutil
import tempfile
from pathlib import Path

from grader.catalog.project import read_toml

SITUATIONS = read_toml(Path(__file__).parent / "golden.toml")


@functools.cache
def file(name: str) -> Path:
    """The file of a situation, in a folder of its own."""
    situation = SITUATIONS[name]
    path = _folder() / name / situation.get("file", "submission.py")
    path.parent.mkdir()
    path.write_bytes(situation["source"].encode(situation.get("encoding", "utf-8")))
    return path


@functools.cache
def _folder() -> Path:
    folder = tempfile.mkdtemp(prefix="kata-situations-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)
