"""The archives of a whole class, as a platform gives them: this process opens them once and reads their members."""

import functools
import os
import threading

from grader.classroom.intake import beneath
from grader.classroom.intake.archive_limits import Bounds, Entry
from grader.classroom.intake.archive_reader import Reader

DOWNLOAD = Bounds(entries=1_000_000, total=64 << 30, table=256 << 20)


class Downloads:
    """The downloads that were opened so far. An open archive has one position, so threads take turns.

    places: where they lie.
    """

    def __init__(self) -> None:
        self.places: set[str] = set()
        self._lock = threading.RLock()
        self._opened = functools.lru_cache(maxsize=4)(self._reader_of_version)

    def open(self, place: str) -> tuple[dict[str, Entry], dict[str, int]]:
        """The members by name, and how often a name occurs again. Raises BadArchive and NoSuchFile."""
        self.places.add(place)
        with self._lock:
            return self._reader(place).members, self._reader(place).inner.repeated

    def read(self, place: str, member: str, limit: int) -> bytes:
        """The content of one member. Raises BadArchive where it is larger than `limit` bytes or cannot be read."""
        with self._lock:
            return self._reader(place).read(member, limit)

    def _reader(self, place: str) -> Reader:
        with beneath.reasons(place):
            facts = beneath.facts(place)
        return self._opened(place, (facts.st_ino, facts.st_size, facts.st_mtime_ns, os.getpid()))

    def _reader_of_version(self, place: str, version: tuple) -> Reader:
        return Reader(os.path.basename(place), beneath.opened(place), DOWNLOAD)


downloads = Downloads()
