"""Versions: a digest of all that a grade depends on besides the submission, its seed and its device."""

import functools
import hashlib
from importlib import metadata
from pathlib import Path

from grader.catalog import paths

# The parts of grader/ on which a verdict depends.
JUDGING = ("authors.py", "sentence.py", "judge", "sandbox", "records", "catalog", "worker")


@functools.cache
def grader() -> str:
    """The version of the judging code and of torch: the same on each machine that may grade together."""
    parts = [paths.module(name) for name in JUDGING]
    files = [path for part in parts for path in ([part] if part.is_file() else part.rglob("*.py"))]
    return f"{_digest(files)} torch {metadata.version('torch')}"


@functools.cache
def exercise(folder: str) -> str:
    """The version of one exercise: its checks, trained model and solutions, and the grader that runs them."""
    files = [*paths.check_files(folder), paths.solution(folder), paths.failed_checks(folder), *paths.mistakes(folder)]
    files.append(paths.trained(folder))
    return f"{_digest([path for path in files if path.exists()])} {grader()}"


def _digest(files: list[Path]) -> str:
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(f"{path.relative_to(paths.ROOT)}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]
