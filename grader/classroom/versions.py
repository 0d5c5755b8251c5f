"""The version of the grader and of each exercise, so that results of two versions are never mixed."""

import functools
import hashlib
from importlib import metadata
from pathlib import Path

from grader.catalog import paths, project

# The parts of grader/ that a verdict depends on.
JUDGING = ("authors.py", "sentence.py", "judge", "sandbox", "records", "catalog", "worker")


@functools.cache
def of_grader() -> str:
    """The judging code and torch: the same on each machine that may grade together."""
    parts = [paths.module(name) for name in JUDGING]
    files = [path for part in parts for path in ([part] if part.is_file() else part.rglob("*.py"))]
    return f"{_digest(files)} torch {metadata.version('torch')}"


@functools.cache
def of_exercise(folder: str) -> str:
    """One exercise: its checks, trained model and solutions, and the grader that runs them."""
    files = [*paths.check_files(folder), paths.solution(folder), paths.failed_checks(folder)]
    files += [paths.mistakes(folder), paths.trained(folder)]
    return f"{_digest([path for path in files if path.exists()])} {of_grader()}"


@functools.cache
def shown() -> str:
    """The version as teachers read it: "0.2.0 (12ab34cd), torch 2.13.0"."""
    digest, _, torch = of_grader().partition(" ")
    return f"{project.version()} ({digest[:8]}), {torch}"


def _digest(files: list[Path]) -> str:
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(f"{path.relative_to(paths.ROOT)}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]
