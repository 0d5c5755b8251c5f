"""Copies of parts of the project, for processes that work in a checkout of their own, and the git that they see."""

import os
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# The environment of a git that knows its user and reads no settings of this machine.
GIT = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
GIT |= {f"GIT_{who}_NAME": "Ada" for who in ("AUTHOR", "COMMITTER")}
GIT |= {f"GIT_{who}_EMAIL": "ada@example.org" for who in ("AUTHOR", "COMMITTER")}


def copy(root: Path, *names: str, without: tuple[str, ...] = ()) -> Path:
    """Copy these folders to another root, without files of these names. Returns the root.

    The grader comes with pyproject.toml, which it reads. Compiled modules come along: a process would spend seconds on
    compiling them anew. `x.pyc.123` is being written.
    """
    for name in names:
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("*.pyc.*", *without))
    if "grader" in names:
        shutil.copy(ROOT / "pyproject.toml", root)
    return root
