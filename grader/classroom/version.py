"""Versions: a digest of all that a grade depends on besides the submission, its seed and its device.

An exercise is judged again where its version changes. That is decided by files, since only then it is sure: its checks,
limits, points and documented numbers, its solution, its known mistakes and trained model, the rooms of the grader in
JUDGING, and torch. Whatever else changes (pages, CSV, intake, rules of a course, lessons, another exercise) judges
nothing again. Of the rooms and of the checks only what Python executes counts: no comment, no empty line.
"""

import functools
import hashlib
import re
from importlib import metadata
from pathlib import Path

from grader.catalog import paths

# The parts of grader/ on which a verdict depends.
JUDGING = ("authors.py", "sentence.py", "judge", "sandbox", "records", "catalog", "worker")
STRING_OR_COMMENT = re.compile(
    r"""('{3}|"{3})(?:\\.|.)*?\1|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|#[^\n]*""", re.DOTALL
)  # a tokenizer takes ten times as long, at the start of every run


@functools.cache
def grader() -> str:
    """The version of the judging code and of torch: the same on each machine that may grade together."""
    parts = [paths.module(name) for name in JUDGING]
    files = [path for part in parts for path in ([part] if part.is_file() else part.rglob("*.py"))]
    return f"{_digest(files)} torch {metadata.version('torch')}"


@functools.cache
def exercise(folder: str) -> str:
    """The version of one exercise: its checks, trained model and solutions, and the grader that runs them."""
    files = [*paths.check_files(folder), paths.solution(folder), paths.failed_checks(folder)]
    files += [paths.mistakes(folder), paths.trained(folder)]
    return f"{_digest([path for path in files if path.exists()])} {grader()}"


def _digest(files: list[Path]) -> str:
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(f"{path.relative_to(paths.ROOT)}\0".encode())
        data = path.read_bytes()
        is_ours = path.suffix == ".py" and path.is_relative_to(paths.GRADER)
        digest.update(hashlib.sha256(executed(data) if is_ours else data).digest())
    return digest.hexdigest()[:16]


def executed(source: bytes) -> bytes:
    """A Python source without comments, empty lines and spaces at the ends of lines.

    Docstrings stay: that of a check is what a learner reads. The text is the same in every version of Python.
    """
    try:
        text = "\n".join(source.decode("utf-8").splitlines())
    except UnicodeDecodeError:
        return source
    # No Python source holds a zero character: it stands for the ends of lines in strings, which no line ends.
    text = STRING_OR_COMMENT.sub(lambda one: "" if one[0][0] == "#" else one[0].replace("\n", "\0"), text)
    kept = "\n".join(line for line in text.split("\n") if line.strip()).replace("\0", "\n")
    return "\n".join(line.rstrip() for line in kept.split("\n")).encode()
