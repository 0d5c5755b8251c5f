"""The fresh stub back, with the learner's file kept beside it."""

import contextlib
import os
import time
from pathlib import Path

from grader import paths, stubs
from grader.errors import WrongUse


def source(folder: str) -> str:
    """The stub as it was handed out: what the solution makes, or the copy that a bundle carries.

    Raises WrongUse where there is neither.
    """
    for path, make in ((paths.pristine_stub(folder), str), (paths.solution(folder), stubs.make)):
        with contextlib.suppress(FileNotFoundError):
            return make(path.read_text("utf-8"))
    path = paths.shown(paths.stub(folder))
    raise WrongUse(f"There is no fresh stub for {folder} here. If git has it: git checkout -- {path}")


def reset(folder: str) -> Path | None:
    """Put the fresh stub in its place. Gives where the learner's file is kept, None where nothing was to keep.

    Raises WrongUse where that cannot be written; then nothing has changed.
    """
    path, stub = paths.stub(folder), source(folder).encode()
    try:
        try:
            mine = path.read_bytes()
        except FileNotFoundError:
            mine = b""
        if mine == stub:
            return None
        path.parent.mkdir(parents=True, exist_ok=True)
        kept = _keep(path, mine) if mine else None
        new = path.with_name(f".{path.name}.new")
        new.write_bytes(stub)
        os.replace(new, path)  # an editor that has the file open sees it whole
    except OSError as error:
        raise WrongUse(f"{paths.shown(path)} cannot be reset: {error.strerror}. Nothing was lost.") from None
    return kept


def _keep(path: Path, content: bytes) -> Path:
    """A copy with the date in its name. No file is ever overwritten."""
    date = time.strftime("%Y-%m-%d-%H%M%S")
    number = 1
    while True:
        kept = path.with_name(f"{path.name}.{date}" + (f"-{number}" if number > 1 else ""))
        try:
            with kept.open("xb") as file:
                file.write(content)
            return kept
        except FileExistsError:
            number += 1
