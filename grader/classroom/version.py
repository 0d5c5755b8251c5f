"""What a grade depends on besides the submission, as one short text: the checks, the solution, the grader's code."""

import functools
import hashlib
from importlib import metadata
from pathlib import Path

from grader import paths

JUDGES = ("*.py", "worker/*.py", "worker/sandbox/*.py")  # of grader/: what has a part in a verdict
# Of these only how results are shown depends, never a result.
SHOWING = {"__main__.py", "cli.py", "doctor.py", "docs.py", "verify.py", "stubs.py", "progress.py", "bundle.py"}


@functools.cache
def grader() -> str:
    """The version of the judging code and of torch: the same on each machine that may grade together."""
    files = [path for pattern in JUDGES for path in paths.GRADER.glob(pattern) if path.name not in SHOWING]
    return f"{_digest(files)} torch {metadata.version('torch')}"


@functools.cache
def exercise(folder: str) -> str:
    """The version of one exercise: its checks and solutions, and the grader that runs them."""
    checks = [path for path in (paths.CHECKS / folder).iterdir() if path.suffix in (".py", ".toml")]
    files = [*checks, paths.solution(folder), paths.kills(folder), *paths.wrong_versions(folder)]
    return f"{_digest([path for path in files if path.exists()])} {grader()}"


def _digest(files: list[Path]) -> str:
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(f"{path.relative_to(paths.ROOT)}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]
