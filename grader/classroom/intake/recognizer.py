"""Recognizes layouts by names and contents: a course, one student's folder, a wrapper around a class.

A name that a student may have chosen decides only where no other entry beside it contradicts it.
"""

from collections.abc import Callable, Sequence

from grader.catalog.errors import BadSubmission, NoSuchFile
from grader.classroom.intake import archives
from grader.classroom.intake.claims import Claim
from grader.classroom.intake.collector import EXPECTED
from grader.classroom.intake.exercise_names import exercise_of_folder, is_code, reading_of
from grader.classroom.intake.folders import Entry
from grader.classroom.intake.platform_names import GRADESCOPE, owner_of
from grader.classroom.intake.walker import SKIPPED, hidden, inside, is_exercises, passed_over

METADATA = "submission_metadata.yml"
COURSE_FILES = {"gradebook.db", "nbgrader_config.py"}
COURSE_FOLDERS = {"source", "release", "autograded", "feedback", "exchange"}
CLASS_FILES = {METADATA, *COURSE_FILES, *EXPECTED}
CLONE_FILES = {".git", "makefile", "pyproject.toml"}
MAX_ENTRIES, MAX_DEPTH = 2_000, 3  # entries and nested folders that are examined to recognize a student's folder


class Recognizer:
    """Recognizes the layout of a class. only: the exercise, where all submissions are for one."""

    def __init__(self, only: str | None) -> None:
        self.only = only

    def is_course(self, children: Sequence[Entry], submitted: Entry) -> bool:
        """Whether this is a course of nbgrader, and not a class with a student called "submitted"."""
        if any(child.kind == "file" and child.name in COURSE_FILES for child in children):
            return True
        return not any(self.is_like_a_students(c) for c in children if c is not submitted and not _of_course(c))

    def is_one_students(self, children: Sequence[Entry], visible: Sequence[Entry]) -> bool:
        """Whether these entries are exercises of one student, not students. visible: those that are not hidden."""
        if any(owner_of(child.name) for child in visible):
            return False
        if any(map(is_exercises, visible)):
            if any(child.name.lower() in CLONE_FILES for child in children):
                return True
            return not any(self.is_like_a_students(c) for c in visible if not (is_exercises(c) or c.name in SKIPPED))
        files = sum(c.kind == "file" and is_code(c.name) and bool(reading_of(c.name).exercise) for c in visible)
        exercises = sum(c.kind == "dir" and bool(exercise_of_folder(c.name)) and _holds_code(c) for c in visible)
        others = sum(c.kind == "dir" or archives.is_archive(c.name) for c in visible) - exercises
        if exercises < max(others, 1) and files <= others + exercises:
            return False
        return not any(self.is_like_a_students(c) for c in visible if not exercise_of_entry(c))

    def is_wrapper(self, child: Entry) -> bool:
        """Whether this entry, the only one in its folder, holds the class and not the files of one student."""
        if child.kind != "dir" or owner_of(child.name) or exercise_of_folder(child.name):
            return False
        children = child.children()
        visible = [entry for entry in children if not hidden(entry)]
        return any(owner_of(entry.name) or GRADESCOPE.fullmatch(entry.name) for entry in visible) or (
            any(entry.kind == "dir" or archives.is_archive(entry.name) for entry in visible)
            and not self.is_one_students(children, visible)
        )

    def are_downloads(self, children: Sequence[Entry]) -> bool:
        """Whether each container among these entries is a download of Moodle or Canvas, and there is one.

        A student's own archive may imitate one, so a single entry that is none makes all of them students' entries.
        """
        containers = [c for c in children if is_container(c) and not hidden(c)]
        return bool(containers) and all(map(_named, containers))

    def is_download(self, node: Entry) -> bool:
        """Whether everything in a folder or an archive has a name of Moodle's or Canvas', with several students."""
        return is_container(node) and len(_named(node, download=False)) > 1

    def is_like_a_students(self, node: Entry) -> bool:
        """Whether an entry looks like a student's: it has a platform's name, is an archive, or holds answers."""
        if owner_of(node.name) or (node.kind == "file" and archives.is_archive(node.name)):
            return True
        return node.kind == "dir" and self.holds_code(node, lambda name: bool(reading_of(name).exercise))

    def holds_work(self, claim: Claim) -> bool:
        """Whether anything in the claimed entry could be graded. An empty or damaged entry conflicts with no other."""
        node = claim.node
        if node.kind == "file" and archives.is_archive(claim.rest):
            try:
                node = node.opened()
            except (BadSubmission, NoSuchFile):
                return False
        return node.kind == "file" or self.holds_code(node, lambda name: True)

    def holds_code(self, node: Entry, counts: Callable[[str], bool]) -> bool:
        """Whether code lies in this folder: an archive, a file whose name `counts`, or one in an exercise's folder.

        At most MAX_DEPTH folders are entered below one another. A folder with too many entries counts as holding code.
        """
        waiting, remaining = [(node, 0)], MAX_ENTRIES
        while waiting:
            folder, depth = waiting.pop()
            is_named = bool(self.only or exercise_of_folder(folder.name))
            for child in inside(folder):
                remaining -= 1
                if remaining < 0:
                    return True
                if passed_over(child) or (child.kind == "dir" and depth == MAX_DEPTH):
                    continue
                if child.kind == "dir":
                    waiting.append((child, depth + 1))
                elif archives.is_archive(child.name) or (_is_answer(child.name) and (is_named or counts(child.name))):
                    return True
        return False


def is_clone(node: Entry) -> bool:
    """Whether a folder is a clone of this repository."""
    if node.kind != "dir":
        return False
    children = inside(node)
    return any(child.name == ".git" for child in children) and any(map(is_exercises, children))


def is_class_file(node: Entry) -> bool:
    """Whether an entry is a file that a platform or a course puts beside the students."""
    return node.kind == "file" and node.name.lower() in CLASS_FILES


def is_container(node: Entry) -> bool:
    """Whether an entry is a folder or an archive."""
    return node.kind == "dir" or (node.kind == "file" and archives.is_archive(node.name))


def _named(node: Entry, download: bool = True) -> set[str]:
    """Whom a folder or an archive names, where a platform named everything in it.

    download: an archive has the limits of a download, else those of a student's.
    """
    if owner_of(node.name):
        return set()
    try:
        inner = node.children() if node.kind == "dir" else node.opened(download).children()
    except (BadSubmission, NoSuchFile, OSError):
        return set()
    owners = [owner_of(child.name) for child in inner if not (hidden(child) or is_class_file(child))]
    return {owner.key for owner in owners if owner} if all(owners) else set()


def _of_course(node: Entry) -> bool:
    return node.name in COURSE_FOLDERS or is_class_file(node)


def exercise_of_entry(node: Entry) -> str | None:
    """The exercise after which a folder or an archive is named, or None."""
    if node.kind == "dir":
        return exercise_of_folder(node.name)
    is_archive = node.kind == "file" and archives.is_archive(node.name)
    return exercise_of_folder(archives.stem(node.name)) if is_archive else None


def _is_answer(name: str) -> bool:
    return is_code(name) and name.lower() not in EXPECTED


def _holds_code(node: Entry) -> bool:
    return any(child.kind == "file" and is_code(child.name) and not owner_of(child.name) for child in inside(node))
