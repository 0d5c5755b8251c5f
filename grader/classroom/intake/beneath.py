"""Opens files beneath the folder that the instructor names, without following any link there.

A place is a path such as "/home/me/downloads//ada/context_vectors.py". The part before "//" is the instructor's and may
contain links; the part after it was chosen by students. That part is opened one name at a time, each from the
descriptor of the folder before it, so that a folder that is replaced by a link at any moment is never entered.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from grader.catalog.errors import BadSubmission, NoSuchFile
from grader.records import safe_files
from grader.records.sanitize import label

BORDER = "//"
MAX_NAME = 255  # bytes of the name of a file or folder on usual file systems; longer names are refused
FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
NO_LINK = getattr(os, "O_NOFOLLOW", 0)


def place(folder: str | Path, *names: str) -> str:
    """The place of an entry, given by the names on the way to it from a folder of the instructor."""
    root = "/" + os.path.abspath(folder).strip("/")
    return root if not names else f"{root.rstrip('/')}{BORDER}{'/'.join(names)}"


def join(place: str, name: str) -> str:
    return f"{place}/{name}" if BORDER in place else f"{place.rstrip('/')}{BORDER}{name}"


def split(place: str) -> tuple[str, list[str]]:
    """The instructor's folder and the names below it. Without a border only the last name is a student's."""
    folder, border, names = place.rpartition(BORDER)
    if not border:
        folder, names = os.path.split(os.path.abspath(place))
    return folder or "/", names.split("/")


def is_too_long(name: str) -> bool:
    return len(name) > MAX_NAME or len(name.encode("utf-8", "surrogatepass")) > MAX_NAME


@contextlib.contextmanager
def folder_of(place: str) -> Iterator[int]:
    """A descriptor of the folder that holds the entry at this place. Raises OSError."""
    folder, names = split(place)
    descriptor = os.open(folder, FOLDER)
    try:
        for name in names[:-1]:
            inner = os.open(name, FOLDER | NO_LINK, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        yield descriptor
    finally:
        os.close(descriptor)


def entries(place: str) -> Iterator[tuple[str, str]]:
    """The name and kind ("dir", "file", "link", "other") of each entry of a folder. Raises OSError."""
    if BORDER not in place:  # the instructor's own folder
        with os.scandir(place) as scanned:
            yield from ((entry.name, _kind(entry)) for entry in scanned)
        return
    with folder_of(f"{place}/.") as descriptor, os.scandir(descriptor) as scanned:
        yield from ((entry.name, _kind(entry)) for entry in scanned)


def facts(place: str) -> os.stat_result:
    """The stat result of the entry itself, even where it is a link. Raises OSError."""
    with folder_of(place) as descriptor:
        return os.stat(split(place)[1][-1], dir_fd=descriptor, follow_symlinks=False)


@contextlib.contextmanager
def reasons(place: str) -> Iterator[None]:
    """Turn an OSError into a BadSubmission or NoSuchFile that says what is wrong with the place."""
    shown_name = label(os.path.basename(place))
    try:
        yield
    except FileNotFoundError:
        raise NoSuchFile(f"There is no file {shown_name} any more.") from None
    except OSError as error:
        raise BadSubmission(f"{shown_name} cannot be read: {error.strerror}.") from None


def open_file(place: str) -> BinaryIO:
    """A stranger's regular file, open for reading. Raises NoSuchFile, and BadSubmission for a link or a device."""
    with reasons(place), folder_of(place) as descriptor:
        return safe_files.open_regular(os.path.basename(place), folder=descriptor)


def read(place: str, limit: int) -> bytes:
    """The bytes of a stranger's file, at most `limit`. Raises NoSuchFile or BadSubmission."""
    with open_file(place) as file:
        return safe_files.read_open(file, label(os.path.basename(place)), limit)


def _kind(entry: os.DirEntry[str]) -> str:
    if entry.is_symlink():
        return "link"
    if entry.is_dir(follow_symlinks=False):
        return "dir"
    return "file" if entry.is_file(follow_symlinks=False) else "other"
