"""Counts the files of a class that are not graded, and lists them with the reasons."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from grader.catalog.errors import BadSubmission, NoSuchFile
from grader.classroom.handins import Misplaced, NeedsPerson
from grader.classroom.intake.folders import Entry
from grader.records.sanitize import label

MOST_LISTED = 20  # files of one student that are listed
MOST_PASSED, MOST_DEEP = 200_000, 40  # of one student: files that are counted without a look, and nested folders
T = TypeVar("T")


class FileLog:
    """The outcomes of files so far. In each method `key` is a student's key, "" for a file of no student."""

    def __init__(self) -> None:
        self.files = self.refused = 0
        self.left_out: Counter[str] = Counter()  # files, by reason
        self.misplaced: list[Misplaced] = []
        self.needs_person: list[NeedsPerson] = []
        self.refusals: dict[str, str] = {}  # why the first file of a student was refused, by key
        self.listed: Counter[str] = Counter()  # files that were listed, by student
        self.passed: Counter[str] = Counter()  # files that were counted without a look, by student
        self.complete = True  # whether every file could be counted

    def attempt(self, key: str, where: str, step: Callable[[], T]) -> T | None:
        """The result of `step`. Where a broken folder or archive makes it fail, the entry is refused, and None."""
        try:
            return step()
        except (BadSubmission, NoSuchFile) as error:
            reason = str(error)
        except OSError as error:
            reason = f"it cannot be read: {error.strerror}"
        self.files += 1
        self.refuse(key, where, reason)
        return None

    def refuse(self, key: str, where: str, reason: str, files: int = 1) -> None:
        """Count files as refused, and list them with the reason."""
        self.refused += files
        self.refusals.setdefault(key, reason)
        self.list_file(key, where, reason)

    def leave_out(self, key: str, node: Entry, reason: str) -> None:
        """Leave out a file, or a folder with everything in it."""
        files = self.count(key, node)
        self.files += files
        self.left_out[reason] += files

    def ask(self, entries: Sequence[tuple[Entry, str]], who: Iterable[str], reason: str, to_do: str) -> None:
        """List entries, each with its place, as in need of a person, who must say whose they are."""
        files = sum(self.count(where, node) for node, where in entries)
        self.files += files
        places = tuple(sorted(label(where) for _, where in entries))
        self.needs_person.append(NeedsPerson(tuple(map(label, who)), places, reason, to_do, files))

    def list_file(self, key: str, where: str, reason: str) -> None:
        """List a file that does not count, with the reason. At most MOST_LISTED files of a student are listed."""
        self.listed[key] += 1
        if not key or self.listed[key] <= MOST_LISTED:
            self.misplaced.append(Misplaced(label(where), reason))

    def list_the_rest(self) -> None:
        """Add a line for each student of whom more files could not be placed than were listed."""
        for key, count in self.listed.items():
            if key and count > MOST_LISTED:
                self.misplaced.append(Misplaced(label(key), f"{count - MOST_LISTED:,} more files could not be placed"))

    def count(self, key: str, node: Entry, depth: int = 0) -> int:
        """The number of files in an entry that is not examined. An archive is one file.

        Where there are too many, the count stops and is marked as incomplete.
        """
        if node.kind != "dir":
            self.passed[key] += 1
            return 1
        try:
            if depth > MOST_DEEP or self.passed[key] > MOST_PASSED:
                raise OSError
            return sum(self.count(key, child, depth + 1) for child in node.children())
        except OSError:
            self.complete = False
            return 0
