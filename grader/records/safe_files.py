"""Reads one regular file once, under a limit of its size, and writes one as a whole, also where strangers can write.

A folder of a student's may hold links with any name that could be guessed, and may be exchanged for a link while we
write. So the folder is opened once; the new file gets a name of 128 random bits in it, is made there and nowhere else,
and takes the old one's place. A link in that place is replaced, not followed.
"""

import contextlib
import errno
import os
import re
import secrets
import stat
from pathlib import Path
from typing import BinaryIO

from grader.catalog import paths
from grader.catalog.errors import BadSubmission, NoSuchFile

MAX_SOURCE = 256 << 10  # bytes of a .py file, and of the code in a notebook
MAX_NOTEBOOK = 16 << 20  # bytes of a notebook, which may hold pictures
# Endings that browsers, editors and platforms append: "x.py.txt", Canvas' "x.py-1.txt", "x.ipynb.json".
APPENDED = re.compile(
    r"(?P<stem>.+)\.(?P<code>py|ipynb)(?P<revision>-\d{1,3}|\s*\(\d{1,3}\))?"
    r"\.(?:txt|text|download|(?P=code)|(?<=ipynb\.)json)",
    re.I | re.S,
)
EXERCISES_FILE = re.compile(r"exercises[/\\](\d\d)_\w+[/\\][^/\\]+$")
OPEN_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW


def plain_name(name: str) -> str:
    """The name without an ending that was appended to .py or .ipynb: "x.py" for "x.py.txt"."""
    match = APPENDED.fullmatch(name)
    return f"{match['stem']}{match['revision'] or ''}.{match['code']}" if match else name


def is_notebook(name: str) -> bool:
    """Whether a file of this name is a notebook."""
    return plain_name(name).lower().endswith(".ipynb")


def limit_of(name: str) -> int:
    """The largest size, in bytes, of a file of this name."""
    return MAX_NOTEBOOK if is_notebook(name) else MAX_SOURCE


def read_open(file: BinaryIO, shown_name: str, limit: int) -> bytes:
    """The bytes of a file that `open_regular` opened, at most `limit`. Raises BadSubmission where there are more."""
    data = file.read(limit + 1)
    if len(data) > limit:
        size = max(len(data), os.fstat(file.fileno()).st_size)
        raise BadSubmission(f"{shown_name} is too large: {size / 1e6:.1f} MB, where {limit / 1e6:.2g} MB is the limit.")
    return data


def open_regular(path: Path | str, links: bool = False, folder: int | None = None) -> BinaryIO:
    """One regular file, open for reading. Raises NoSuchFile, and BadSubmission for a link, a pipe or a device.

    links: hard links are allowed. folder: the descriptor of the folder to which `path` is relative.
    """
    shown_name = paths.shown(Path(path)) if folder is None else str(path)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    except FileNotFoundError:
        raise NoSuchFile(f"There is no file {shown_name}.{reset_advice(shown_name)}") from None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise BadSubmission(f"{shown_name} is a symbolic link. Hand in the file itself.") from None
        raise BadSubmission(f"{shown_name} cannot be read: {error.strerror}.") from None
    facts, trouble = os.fstat(descriptor), ""
    if stat.S_ISDIR(facts.st_mode):
        trouble = f"{shown_name} is a directory. Name the .py or .ipynb file inside it."
    elif not stat.S_ISREG(facts.st_mode):
        trouble = f"{shown_name} is not a regular file."
    elif facts.st_nlink > 1 and not links:
        trouble = f"{shown_name} is a hard link to another file. Hand in a copy."
    if trouble:
        os.close(descriptor)
        raise BadSubmission(trouble)
    return os.fdopen(descriptor, "rb")


def text_of(data: bytes, shown_name: str) -> str:
    """The bytes of a file as text in UTF-8. Raises BadSubmission. shown_name: its name in messages."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadSubmission(
            f"{shown_name} is not UTF-8 text (byte {error.start}). Save it again with the encoding UTF-8."
        ) from None
    if "\0" in text:
        raise BadSubmission(f"{shown_name} holds a NUL byte: it is not a text file. Save it again as plain text.")
    return text


def reset_advice(shown_name: str) -> str:
    """The command that restores a missing or empty file of the exercises; "" for any other file."""
    match = EXERCISES_FILE.search(shown_name)
    return f" The fresh stub: make reset EX={match[1]}" if match else ""


def write_whole(path: Path, data: bytes | str, mode: int = 0o666, durable: bool = False) -> None:
    """Replace a file as a whole. Text is written as UTF-8, and what UTF-8 cannot encode as an escape.

    mode: of the file, less the umask. durable: wait until the disk has it. Raises OSError, and ValueError where the
    name cannot be one of a file; then the old file is there and nothing else.
    """
    content = data.encode("utf-8", "backslashreplace") if isinstance(data, str) else data
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    new = f".{secrets.token_hex(16)}.new"
    try:
        with os.fdopen(os.open(new, OPEN_NEW, mode, dir_fd=folder), "wb") as file:
            file.write(content)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        os.replace(new, path.name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(new, dir_fd=folder)
        raise
    finally:
        os.close(folder)
