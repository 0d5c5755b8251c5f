"""What the warm process has read of the disk, and whether it is still the same."""

import os
import sys

from grader import folders
from grader.catalog import paths

State = dict[str, tuple[int, ...]]  # by path: what tells one version of a file from another


def state() -> State:
    """The state of the grader, of its Python and of its packages, in a few milliseconds.

    Whatever pip installs or removes changes the folder that holds packages.
    """
    found = {path: _version(path) for path in {sys.executable, os.path.realpath(sys.executable), *_packages()}}
    return found | _below(str(paths.GRADER)) | _below(str(paths.at_root("pyproject.toml")))


def state_of(folder: str) -> State:
    """The state of what is read once for an exercise, beside its checks: its solution, mistakes and models."""
    found: State = {}
    for path in (paths.solution(folder).parent, paths.trained(folder), *paths.model_files(folder)):
        found |= _below(str(path))
    return found


def _packages() -> list[str]:
    """The folders of packages, and what torch's own version is written in."""
    folders = [path for path in sys.path if os.path.basename(path) in ("site-packages", "dist-packages")]
    return [*folders, *(os.path.join(path, "torch", "version.py") for path in folders)]


def _below(path: str) -> State:
    """The state of a file, or of every file below a folder but what Python compiled."""
    try:
        with os.scandir(path) as entries:
            found: State = {}
            for entry in entries:
                if entry.name != "__pycache__" and entry.path != folders.PACKED:  # of that, state_of has what is read
                    is_folder = entry.is_dir(follow_symlinks=False)
                    found |= _below(entry.path) if is_folder else {entry.path: _facts(entry.stat())}
            return found
    except OSError:
        return {path: _version(path)}


def _version(path: str) -> tuple[int, ...]:
    try:
        return _facts(os.stat(path))
    except OSError:
        return ()


def _facts(facts: os.stat_result) -> tuple[int, ...]:
    return facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns
