"""Writes a file as a whole or not at all, also where strangers can write beside it.

A folder of a student's may hold links with any name that could be guessed, and may be exchanged for a link while we
write. So the folder is opened once; the new file gets a name of 128 random bits in it, is made there and nowhere else,
and takes the old one's place. A link in that place is replaced, not followed.
"""

import contextlib
import os
import secrets
from pathlib import Path

FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)


def write(path: Path, data: bytes | str, mode: int = 0o666, durable: bool = False) -> None:
    """Replace a file as a whole. Text is written as UTF-8, and what UTF-8 cannot encode as an escape.

    mode: of the file, less the umask. durable: wait until the disk has it. Raises OSError, and ValueError where the
    name cannot be one of a file; then the old file is there and nothing else.
    """
    content = data.encode("utf-8", "backslashreplace") if isinstance(data, str) else data
    folder = os.open(path.parent, FOLDER)
    try:
        new = f".{secrets.token_hex(16)}.new"
        descriptor = os.open(new, NEW, mode, dir_fd=folder)
        try:
            with os.fdopen(descriptor, "wb") as file:
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
