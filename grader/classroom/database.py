"""Opens the SQLite file in which the results of a class lie, for one writer; and how such a file stores file names."""

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from grader.catalog.errors import InfrastructureError, WrongUse
from grader.classroom import private

NO_ROOM = {
    "database or disk is full": "the disk is full",
    "disk I/O error": "the disk reports an error",
}  # SQLite's words
WAIT_S = 0.5  # for a writer that is about to end


class Database(sqlite3.Connection):
    """A connection that says in words where nothing more can be written. Raises InfrastructureError then."""

    path: Path

    def execute(self, *arguments: Any) -> sqlite3.Cursor:
        """As the connection's own."""
        with self._reasons():
            return super().execute(*arguments)

    def executemany(self, *arguments: Any) -> sqlite3.Cursor:
        """As the connection's own."""
        with self._reasons():
            return super().executemany(*arguments)

    def executescript(self, script: str) -> sqlite3.Cursor:
        """As the connection's own."""
        with self._reasons():
            return super().executescript(script)

    @contextlib.contextmanager
    def _reasons(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            reason = NO_ROOM.get(str(error))
            if reason is None:
                raise
            raise InfrastructureError(
                f"{self.path} cannot be written: {reason}. What it holds is kept: make room, and type the same command"
            ) from None


def open_database(path: Path, schema: str) -> Database:
    """The file with these tables, for its owner alone. It and its folder are made where they are missing.

    schema: the SQL statements that create the tables. Raises WrongUse where the file cannot be used.
    """
    folder = path.parent
    try:
        folder.mkdir(mode=private.OWNER, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDONLY, 0o600))
        with contextlib.suppress(OSError):  # some drives have no modes
            path.chmod(0o600)  # SQLite gives the same mode to the files beside it
        database = sqlite3.connect(path, timeout=WAIT_S, isolation_level=None, factory=Database)
        database.path = path
        # There is one writer only: then the write-ahead log needs no shared memory and works on network drives too.
        database.execute("pragma locking_mode=exclusive")
        database.execute("pragma journal_mode=wal")
        database.execute("pragma synchronous=normal")
        database.executescript(f"begin immediate; {schema} commit;")
    except OSError as error:
        raise WrongUse(f"{folder} cannot be used: {error.strerror}. Name another folder: OUT=…") from None
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            raise WrongUse(f"another run is writing into {folder}. Wait for it, or name another: OUT=…") from None
        raise WrongUse(f"{path} cannot be used: {error}. Name another folder: OUT=…") from None
    except sqlite3.DatabaseError:
        raise WrongUse(f"{path} is damaged. Move it away: all will be graded again") from None
    return database


def encoded(name: str) -> str | bytes:
    """A file's name as SQLite can store it: as bytes where it is not UTF-8."""
    try:
        return name.encode() and name
    except UnicodeEncodeError:
        return name.encode("utf-8", "surrogatepass")


def decoded(name: str | bytes) -> str:
    """The file's name that was encoded."""
    return name if isinstance(name, str) else name.decode("utf-8", "surrogatepass")
