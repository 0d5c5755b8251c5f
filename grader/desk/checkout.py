"""Changes the checkout and keeps what the learner has written: `reset` puts a stub back, `update` merges what is new.

git refuses to update a file that was edited and not committed. Such a file is merged here: what the project changed in
it, around what the learner wrote; where both changed the same lines, the learner's stay. Before anything else a copy is
kept. What the learner has committed, git merges by the same rule.
"""

import ast
import contextlib
import os
import stat
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from grader.catalog import paths, stubs
from grader.catalog.errors import InfrastructureError, WrongUse
from grader.records import safe_files

REMOTES = ("upstream", "origin")  # the first of these that there is; in a fork, upstream is the project
ZIP = "This copy is no git clone. Unpack the new zip beside this folder, and copy your files of exercises/ into it."


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
        safe_files.write_whole(path, stub)  # at once, so that an editor never reads a part of it
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


@dataclass(frozen=True)
class Merged:
    """A file that both sides changed. copy: the learner's, as it was; is_kept: nothing of the project's came in."""

    path: Path
    copy: Path
    is_kept: bool


@dataclass(frozen=True)
class Update:
    """What an update did. changes: how many files the project changed; merged: those that the learner edited too."""

    changes: int
    merged: tuple[Merged, ...]


def update() -> Update:
    """Fetch what is new and merge it.

    Raises WrongUse where this is no clone or git refuses, InfrastructureError where the project cannot be reached. Then
    every file is as it was.
    """
    if not paths.at_root(".git").exists():
        raise WrongUse(ZIP)
    remotes = _git("remote").split()
    remote = next((name for name in REMOTES if name in remotes), None)
    if remote is None:
        raise WrongUse("This clone does not know where it comes from. Type: git remote add origin ADDRESS")
    fetched = _run("fetch", "--quiet", remote, "HEAD")
    if fetched.returncode:
        reason = _last_line(fetched.stderr)
        raise InfrastructureError(f"the project cannot be reached ({reason}). Your files are as they were")
    old, new = _git("rev-parse", "HEAD").strip(), _git("rev-parse", "FETCH_HEAD").strip()
    coming = _names("diff", "--name-only", "-z", f"{old}...{new}")
    edited = [name for name in _names("diff", "--name-only", "-z", old) if name in coming]
    mine = {name: content for name in edited if (content := _content(name)) is not None}
    copies = {name: write_copy(paths.at_root(name), content) for name, content in mine.items()}
    committed = {name: _show(old, name) for name in coming if name not in mine and name.endswith(".py")}
    try:
        if edited:
            _demand("checkout", "--quiet", old, "--", *edited)
        _demand("merge", "--quiet", "--no-edit", "-X", "ours", new)
    except BaseException:
        _run("merge", "--abort")
        for name, content in mine.items():
            _write(paths.at_root(name), content)
        for copy in copies.values():
            copy.unlink(missing_ok=True)
        raise
    merged = []
    for name, content in mine.items():
        text = _merged(content, _show(old, name), _content(name))
        _write(paths.at_root(name), text)
        merged.append(Merged(paths.at_root(name), copies[name], text == content))
    for name, content in committed.items():  # git knows lines, not Python
        if content is not None and _is_python(content) and not _is_python(_content(name) or b""):
            _write(paths.at_root(name), content)
    return Update(len(coming), tuple(merged))


def _merged(mine: bytes, base: bytes | None, theirs: bytes | None) -> bytes:
    """The learner's file with the project's changes since base; the learner's own where they cannot be merged."""
    if base is None or theirs is None:
        return mine
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / name for name in ("mine", "base", "theirs")]
        for path, content in zip(files, (mine, base, theirs)):
            path.write_bytes(content)
        merging = subprocess.run(["git", "merge-file", "--ours", "--stdout", *files], capture_output=True, check=False)
    is_usable = merging.returncode == 0 and (_is_python(merging.stdout) or not _is_python(mine))
    return merging.stdout if is_usable else mine


def _is_python(content: bytes) -> bool:
    """Whether Python can read this source."""
    try:
        ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _write(path: Path, content: bytes) -> None:
    """Replace a file as a whole, so that an editor never reads a part of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o666
    safe_files.write_whole(path, content, mode)


def _content(name: str) -> bytes | None:
    """A file of the clone; None where it is not there."""
    try:
        return paths.at_root(name).read_bytes()
    except (FileNotFoundError, IsADirectoryError):
        return None


def _show(commit: str, name: str) -> bytes | None:
    """A file as it is in a commit; None where it is not there."""
    shown = subprocess.run(["git", "show", f"{commit}:{name}"], cwd=paths.ROOT, capture_output=True, check=False)
    return shown.stdout if shown.returncode == 0 else None


def _names(*arguments: str) -> list[str]:
    """File names that git lists with -z."""
    return [name for name in _git(*arguments).split("\0") if name]


def _git(*arguments: str) -> str:
    """What git answers. Raises WrongUse where it refuses."""
    return _demand(*arguments).stdout


def _demand(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run git. Raises WrongUse where it refuses, with its last words."""
    done = _run(*arguments)
    if done.returncode:
        words = (done.stderr or done.stdout).strip()
        raise WrongUse(f"git could not update this clone; your files are as they were. It said:\n{words}")
    return done


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run git in the checkout. It asks for no password."""
    environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    try:
        return subprocess.run(
            ["git", *arguments], cwd=paths.ROOT, env=environment, capture_output=True, text=True, errors="replace"
        )
    except FileNotFoundError:
        raise WrongUse("git is not installed, and the update needs it.") from None


def _last_line(text: str) -> str:
    """The last line that is not empty."""
    return (text.strip().splitlines() or ["git did not say why"])[-1]
