"""Changes the checkout and keeps what the learner has written: `reset` puts a stub back, `update` merges what is new.

git refuses to update a file that was edited and not committed. Such a file is merged here: what the project changed in
it, around what the learner wrote; where both changed the same lines, the learner's stay. Before anything else a copy is
kept. What the learner has committed, git merges by the same rule. An exercise that has another number now is known by
its slug, and what the learner has of it moves along.
"""

import contextlib
import itertools
import os
import stat
import subprocess
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from grader.catalog import paths, stubs
from grader.catalog.errors import InfrastructureError, WrongUse
from grader.desk import progress
from grader.records import safe_files
from grader.records.syntax import parse

ZIP = "This copy is no git clone. Unpack the new zip beside this folder, and copy your files of exercises/ into it."
NO_HISTORY = (
    "git knows nothing here that kata has handed out, so it cannot tell your changes from new ones. "
    "Make a new folder, and copy your files of exercises/ into it: kata init ../my-attention-2"
)
HANDED_OUT = "Exercises of attention-kata"  # how the message of such a commit begins
NAMES = ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL")
IDENTITY = dict(zip(NAMES, ("attention-kata", "kata@localhost") * 2, strict=True))
AS_IT_IS = ("-c", "core.autocrlf=false", "-c", "core.safecrlf=false", "-c", "commit.gpgsign=false")


def source(folder: str) -> str:
    """The stub as it was handed out. Raises WrongUse where it is not there."""
    stub = stubs.original(folder)
    if stub is not None:
        return stub
    stub_path = paths.typed(paths.stub(folder))
    raise WrongUse(f"There is no fresh stub for {folder} here. If git has it: git checkout -- {stub_path}")


def reset(folder: str) -> Path | None:
    """Put the stub back. Returns the path of the copy of the learner's file, or None where there was nothing to keep.

    Raises WrongUse where a file cannot be written; then nothing has changed.
    """
    path, stub = paths.stub(folder), source(folder).encode()
    try:
        content = path.read_bytes() if path.exists() else b""
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
    before = f"{path.stem}.before-{time.strftime('%Y-%m-%d-%H%M%S')}"
    for number in itertools.count(1):
        copy = path.with_name(f"{before}{f'-{number}' if number > 1 else ''}{path.suffix}")
        with contextlib.suppress(FileExistsError), copy.open("xb") as file:
            file.write(content)
            break
    return copy


class Update(NamedTuple):
    """What an update did. changes: how many files the project changed; merged: a line on each file of both."""

    changes: int
    merged: list[str]


def begin(folder: Path, files: dict[str, bytes], version: str) -> bool:
    """Let git begin in a learner's folder: the first commit is what is handed out. Returns whether git is there."""
    try:
        _git("init", "--quiet", cwd=folder)
    except WrongUse:
        return False
    _git("update-ref", "HEAD", _commit(folder, files, version), cwd=folder)
    _git(*AS_IT_IS, "reset", "--quiet", cwd=folder)
    return True


def write_files(folder: Path, files: dict[str, bytes]) -> None:
    """Write files below a folder. Raises OSError."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def update(files: dict[str, bytes] | None = None, version: str = "") -> Update:
    """Merge what is new: into a clone what the project has, into a learner's folder what kata hands out now.

    files, version: these. Raises WrongUse where git is not at work here or refuses, InfrastructureError where the
    project cannot be reached. Then every file is as it was.
    """
    if not paths.at_desk(".git").exists():
        raise WrongUse(ZIP if files is None else NO_HISTORY)
    old = _git("rev-parse", "HEAD")
    new = _fetch() if files is None else _handed_out(files, version)
    coming = _names("diff", "--no-renames", "--name-only", "-z", f"{old}...{new}")
    edited = [name for name in _names("diff", "--no-renames", "--name-only", "-z", old) if name in coming]
    moved = _moved(old, new)
    mine = {name: content for name in coming if (content := _content(name))}
    copies = {name: write_copy(paths.at_desk(name), mine[name]) for name in edited if name in mine}
    try:
        if edited:
            _git("checkout", "--quiet", old, "--", *edited)
        _git("merge", "--quiet", "--no-edit", "-X", "ours", new)
    except BaseException:
        _run("merge", "--abort")
        for name in copies:
            _write(name, mine[name])
            copies[name].unlink()
        raise
    if moved:
        _carry_over(moved)
    merged = []
    for name, content in mine.items():
        old_folder = next((folder for folder in moved if name.startswith(f"exercises/{folder}/")), "")
        target = name.replace(old_folder, moved[old_folder], 1) if old_folder else name
        copy = copies.get(name)
        text = _content(target)
        if copy:
            text = _merge(content, _run("show", f"{old}:{name}").stdout, text)
        is_broken = name.endswith(".py") and _is_python(content) and not _is_python(text)  # git knows lines, not Python
        if copy or is_broken:
            _write(target, content if is_broken else text)
        if copy:
            path = paths.at_desk(target)
            is_kept = is_broken or text == content
            how = "is as you left it" if is_kept else "has the new parts around your code"
            merged.append(f"{paths.shown(path)} {how}. As it was before: {paths.shown(path.with_name(copy.name))}")
    return Update(len(coming), merged)


def _moved(old: str, new: str) -> dict[str, str]:
    """The exercises with another number in a newer commit: the new folder by the old one."""

    def folders(commit: str) -> dict[str, str]:
        names = [name.rpartition("/")[2] for name in _names("ls-tree", "--name-only", "-z", commit, "exercises/")]
        return {paths.slug(name): name for name in names}

    after = folders(new)
    return {folder: after[slug] for slug, folder in folders(old).items() if after.get(slug, folder) != folder}


def _carry_over(moved: dict[str, str]) -> None:
    """Move what git does not know along with its exercise: files of the learner's own, and the progress."""
    for before, after in moved.items():
        old, new = (paths.at_desk(f"exercises/{folder}") for folder in (before, after))
        for place, _, names in os.walk(old, topdown=False):
            target = new / Path(place).relative_to(old)
            target.mkdir(parents=True, exist_ok=True)
            for name in names:
                if not (target / name).exists():
                    Path(place, name).rename(target / name)
            with contextlib.suppress(OSError):  # what is there in both stays
                os.rmdir(place)
    progress.rename(moved)


def _fetch() -> str:
    """The newest commit of the project: in a fork, of upstream."""
    remote = "upstream" if "upstream" in _git("remote").split() else "origin"
    fetched = _run("fetch", "--quiet", remote, "HEAD")
    if fetched.returncode:
        reason = " ".join(os.fsdecode(fetched.stderr).split())
        raise InfrastructureError(f"the project cannot be reached ({reason}). Your files are as they were")
    return _git("rev-parse", "FETCH_HEAD")


def _handed_out(files: dict[str, bytes], version: str) -> str:
    """A commit of what kata hands out, on top of the one before. That one where nothing has changed."""
    before = _git("log", "-1", "--format=%H", f"--grep=^{HANDED_OUT} ", "HEAD")
    if not before:
        raise WrongUse(NO_HISTORY)
    commit = _commit(paths.DESK, files, version, "-p", before)
    return before if _git("diff", "--name-only", before, commit) == "" else commit


def _commit(folder: Path, files: dict[str, bytes], version: str, *parent: str) -> str:
    """Put files into a commit of the repository in a folder, whose own files stay as they are. Returns its hash."""
    with tempfile.TemporaryDirectory() as temporary:
        tree = Path(temporary) / "files"
        write_files(tree, files)
        repository = _git("rev-parse", "--absolute-git-dir", cwd=folder)
        places = {"GIT_DIR": repository, "GIT_WORK_TREE": str(tree), "GIT_INDEX_FILE": f"{temporary}/index"}

        def git(*words: str) -> str:
            """Run git with these files as its working tree."""
            return _git(*AS_IT_IS, *words, cwd=tree, **places, **IDENTITY)

        git("add", "--all", "--force", ".")
        return git("commit-tree", git("write-tree"), *parent, "-m", f"{HANDED_OUT} {version}")


def _merge(mine: bytes, base: bytes, theirs: bytes) -> bytes:
    """The learner's file with the project's changes since base; the learner's own where one of them is not there."""
    if not base or not theirs:
        return mine
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder), {"mine": mine, "base": base, "theirs": theirs})
        merging = _run("merge-file", "--ours", "--stdout", *(f"{folder}/{name}" for name in ("mine", "base", "theirs")))
    return merging.stdout if merging.returncode == 0 else mine


def _is_python(content: bytes) -> bool:
    """Whether Python can read this source."""
    return parse(content.decode("utf-8-sig", "replace")) is not None


def _write(name: str, content: bytes) -> None:
    """Replace a file of the checkout as a whole, so that an editor never reads a part of it."""
    path = paths.at_desk(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    safe_files.write_whole(path, content, stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o666)


def _content(name: str) -> bytes:
    """A file of the checkout; nothing where it is not there."""
    path = paths.at_desk(name)
    return path.read_bytes() if path.is_file() else b""


def _names(*words: str) -> list[str]:
    """File names that git lists with -z."""
    return [name for name in _git(*words).split("\0") if name]


def _git(*words: str, cwd: Path | None = None, **environment: str) -> str:
    """What git answers. Raises WrongUse where it refuses, with its last words."""
    done = _run(*words, cwd=cwd, **environment)
    if done.returncode:
        said = os.fsdecode(done.stderr or done.stdout).strip()
        raise WrongUse(f"git could not do this; your files are as they were. It said:\n{said}")
    return os.fsdecode(done.stdout).strip()


def _run(*words: str, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run git, by default in the checkout. It asks for no password. Raises WrongUse where there is no git."""
    environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C", **environment}
    try:
        return subprocess.run(["git", *words], cwd=cwd or paths.DESK, env=environment, capture_output=True)
    except FileNotFoundError:
        raise WrongUse("git is not installed, and the update needs it.") from None
