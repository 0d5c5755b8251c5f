"""Puts the stub of an exercise back and keeps a copy of the learner's file beside it."""

import contextlib
import time
from pathlib import Path

from grader.catalog import paths, stubs
from grader.catalog.errors import WrongUse
from grader.records import whole_file


def source(folder: str) -> str:
    """The stub as it was handed out: made from the solution, or the copy in a bundle.

    Raises WrongUse where there is neither.
    """
    for path, make in ((paths.pristine_stub(folder), str), (paths.solution(folder), stubs.make)):
        with contextlib.suppress(FileNotFoundError):
            return make(path.read_text("utf-8"))
    path = paths.shown(paths.stub(folder))
    raise WrongUse(f"There is no fresh stub for {folder} here. If git has it: git checkout -- {path}")


def reset(folder: str) -> Path | None:
    """Put the stub back. Returns the path of the copy of the learner's file, or None where there was nothing to keep.

    Raises WrongUse where a file cannot be written; then nothing has changed.
    """
    path, stub = paths.stub(folder), source(folder).encode()
    try:
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            content = b""
        if content == stub:
            return None
        path.parent.mkdir(parents=True, exist_ok=True)
        copy = write_copy(path, content) if content else None
        whole_file.write(path, stub)  # at once, so that an editor never reads a part of it
        paths.last_result(folder).unlink(missing_ok=True)  # it is of another file: hints begin at the first task
    except OSError as error:
        raise WrongUse(f"{paths.shown(path)} cannot be reset: {error.strerror}. Nothing was lost.") from None
    return copy


def write_copy(path: Path, content: bytes) -> Path:
    """Write a copy with the date in its name, x.before-2026-11-22-134500.py, over no other file. Returns its path."""
    date = time.strftime("%Y-%m-%d-%H%M%S")
    number = 1
    while True:
        copy = path.with_name(f"{path.stem}.before-{date}" + (f"-{number}" if number > 1 else "") + path.suffix)
        try:
            with copy.open("xb") as file:
                file.write(content)
            return copy
        except FileExistsError:
            number += 1
