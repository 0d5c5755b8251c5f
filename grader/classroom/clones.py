"""The commit time of a student's clone, read without a program of the student's.

Git runs what a repository's own configuration names, so it is never started in a clone: the commit is read by an empty
repository of ours that borrows the clone's objects.
"""

import functools
import os
import re
import subprocess
import tempfile
from datetime import datetime, timezone

from grader.catalog.errors import BadSubmission, NoSuchFile
from grader.classroom.intake import beneath

MAX_REF, MAX_PACKED = 4096, 4 << 20  # bytes of HEAD and a reference, and of the list of packed references
SECONDS = 10
COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
COMMITTER = re.compile(rb"^committer [^\n]* (\d{1,12}) [+-]\d{4}$", re.M)


def committed(clone: str) -> datetime | None:
    """When the latest commit of a clone was made, by the clock of who made it; None where that cannot be read.

    clone: the place of its folder, as `beneath` writes it.
    """
    try:
        commit = _head(clone)
        return _time(clone, commit) if commit else None
    except (BadSubmission, NoSuchFile, UnicodeDecodeError, OSError, subprocess.SubprocessError, OverflowError):
        return None


def _head(clone: str) -> str | None:
    """The name of the commit that HEAD stands for."""
    text = beneath.read(f"{clone}/.git/HEAD", MAX_REF).decode().strip()
    if text.startswith("ref: "):
        name = text.removeprefix("ref: ").strip()
        if not re.fullmatch(r"refs/[\w./-]+", name) or ".." in name:
            return None
        try:
            text = beneath.read(f"{clone}/.git/{name}", MAX_REF).decode().strip()
        except NoSuchFile:
            packed = beneath.read(f"{clone}/.git/packed-refs", MAX_PACKED).decode()
            text = next((line.split(" ")[0] for line in packed.splitlines() if line.endswith(f" {name}")), "")
    return text if COMMIT.fullmatch(text) else None


def _time(clone: str, commit: str) -> datetime | None:
    """The committer's time of a commit."""
    environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    environment |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_TERMINAL_PROMPT": "0"}
    environment["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = f"{clone}/.git/objects"
    command = ["git", f"--git-dir={_empty().name}", "cat-file", "commit", commit]
    process = subprocess.run(
        command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False
    )
    committer = COMMITTER.search(process.stdout.partition(b"\n\n")[0])
    return datetime.fromtimestamp(int(committer[1]), timezone.utc) if process.returncode == 0 and committer else None


@functools.cache
def _empty() -> tempfile.TemporaryDirectory:
    """An empty bare repository, for as long as this process lives."""
    folder = tempfile.TemporaryDirectory(prefix="kata-git-")
    subprocess.run(
        ["git", "init", "--quiet", "--bare", "--template=", folder.name], check=True, timeout=SECONDS,
        capture_output=True,
    )  # fmt: skip
    return folder
