"""Versions: a digest of all that a grade depends on besides the submission, its seed and its device.

An exercise is judged again where its version changes. That is decided by files, since only then it is sure: its checks,
limits, points and documented numbers, its solution, its known mistakes and trained model, the rooms of the grader in
JUDGING, and torch. Whatever else changes (pages, CSV, intake, rules of a course, lessons, another exercise) judges
nothing anew. Of the rooms and of the checks only what Python executes counts: no comment, no empty line.
"""

import functools
import hashlib
import io
import tokenize
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
        data = path.read_bytes()
        is_ours = path.suffix == ".py" and path.is_relative_to(paths.GRADER)
        digest.update(hashlib.sha256(executed(data) if is_ours else data).digest())
    return digest.hexdigest()[:16]


def executed(source: bytes) -> bytes:
    """A Python source without comments, empty lines and spaces at the ends of lines; as it is where it is no Python.

    Docstrings stay: that of a check is what a learner reads. The text is the same in every version of Python.
    """
    try:
        lines = source.decode("utf-8").splitlines()
        kept: set[int] = set()  # the lines, from 1, on which something stands that is executed
        for token in tokenize.generate_tokens(io.StringIO("\n".join(lines) + "\n").readline):
            if token.type == tokenize.COMMENT:
                row, column = token.start
                lines[row - 1] = lines[row - 1][:column]
            elif token.type not in (tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT):
                kept.update(range(token.start[0], token.end[0] + 1))
    except (UnicodeDecodeError, tokenize.TokenError, SyntaxError):
        return source
    return "\n".join(line.rstrip() for number, line in enumerate(lines, 1) if number in kept).encode()
