"""What the warm process has read of the disk, and whether it is still the same."""

import os
import sys
from collections.abc import Iterable, Iterator

from grader import folders
from grader.catalog import paths

State = dict[str, tuple[int, ...]]  # by path: what tells one version of a file from another


def state(exercises: Iterable[str]) -> State:
    """The state of the grader, its Python and its packages, and of exercises, in a few milliseconds.

    Whatever pip installs or removes changes the folder that holds packages.
    """
    packages = [path for path in sys.path if os.path.basename(path) in ("site-packages", "dist-packages")]
    files = [sys.executable, os.path.realpath(sys.executable), str(paths.at_root("pyproject.toml")), *packages]
    files += [os.path.join(path, "torch", "version.py") for path in packages]
    for folder in exercises:
        files += map(str, (paths.trained(folder), *paths.model_files(folder)))
        files += _below(str(paths.solution(folder).parent))
    return {path: _facts(path) for path in (*files, *_below(str(paths.GRADER)))}


def _below(folder: str) -> Iterator[str]:
    """Every file below a folder, but what Python compiled, and the exercises of a wheel."""
    for parent, names, files in os.walk(folder):
        names[:] = [name for name in names if name != "__pycache__" and os.path.join(parent, name) != folders.PACKED]
        yield from (os.path.join(parent, name) for name in files)


def _facts(path: str) -> tuple[int, ...]:
    try:
        facts = os.stat(path)
    except OSError:
        return ()
    return facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns
