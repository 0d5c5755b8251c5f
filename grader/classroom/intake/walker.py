"""Walks the submission of one student, each file once, and recognizes layouts by names and contents.

A name that a student may have chosen decides only where no other entry beside it contradicts it.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

from grader.catalog import Exercise
from grader.catalog.errors import BadSubmission, NoSuchFile
from grader.classroom.intake import archives, beneath
from grader.classroom.intake.collector import EXPECTED, Collector, Entry
from grader.classroom.intake.names import GRADESCOPE, Claim, exercise_of_folder, is_code, owner_of, reading_of
from grader.records import limited

SKIPPED = {"__pycache__", "node_modules", "venv", "env", "solutions", "tests", "grader", "build"}
DEEPEST, MOST_ENTRIES, MOST_ARCHIVES = 12, 10_000, 30  # of one student: folders below one another, entries, archives
MOST_SECONDS = 5.0  # processor time to open the archives of one student; honest ones take a hundredth
HIDDEN, FORKS = "hidden", "made by macOS"
TOOLING = "in venv/, tests/, build/ and the like"
BESIDE = "beside exercises/ in a clone"
METADATA = "submission_metadata.yml"
COURSE_FILES = {"gradebook.db", "nbgrader_config.py"}
COURSE_FOLDERS = {"source", "release", "autograded", "feedback", "exchange"}
CLASS_FILES = {METADATA, *COURSE_FILES, *EXPECTED}
CLONE_FILES = {".git", "makefile", "pyproject.toml"}
MAX_ENTRIES, MAX_DEPTH = 2_000, 3  # entries and nested folders that are examined to recognize a student's folder


class Walker(Collector):
    """Walks the folders of students whose names are certain."""

    def __init__(self, exercises: Sequence[Exercise]) -> None:
        super().__init__(exercises)
        self.entries: Counter[str] = Counter()  # entries that were walked, by student
        self.archives: Counter[str] = Counter()  # archives that were opened, by student
        self.seconds: defaultdict[str, float] = defaultdict(float)  # processor time that opening them took, by student

    def walk_entry(self, key: str, node: Entry, name: str, where: str, hint: str | None, depth: int = 0) -> None:
        """Take in one entry of a student. name: as the student called it; hint: the exercise of its folder."""
        if node.kind == "dir":
            self.walk_student(key, node, where + "/", hint, depth)
        elif node.kind == "file" and archives.is_archive(name):
            self.archives[key] += 1
            if self.archives[key] > MOST_ARCHIVES:
                self.log.files += 1
                self.refuse(key, name, where, f"more than {MOST_ARCHIVES} archives: this one was not opened", hint)
            elif self.seconds[key] > MOST_SECONDS:
                self.log.files += 1
                reason = f"the archives took more than {MOST_SECONDS:g} s: this one was not opened"
                self.refuse(key, name, where, reason, hint)
            elif opened := self.open(key, node, where):
                self.walk_student(key, opened, where + ":", hint, depth)
            else:
                self.note_unusable(key, name, self.log.failure, hint)
        else:
            self.log.files += 1
            if node.kind != "file":
                self.refuse(key, name, where, kind_reason(node.kind), hint)
            elif is_code(name):
                self.collect_code(key, node, name, where, hint, depth)
            else:
                self.leave_out_foreign(key, name, where, hint)

    def open(self, key: str, node: Entry, where: str) -> Entry | None:
        """The root of a student's archive; None where it was refused."""
        before = limited.spent()
        try:
            return self.log.attempt(key, where, node.open)
        finally:
            self.seconds[key] += limited.spent() - before

    def walk_student(self, key: str, node: Entry, trail: str, hint: str | None = None, depth: int = 0) -> None:
        """Walk a student's folder. hint: the exercise whose folder this is, or lies in."""
        if depth > DEEPEST:
            return self.refuse_unseen(key, [node], trail, f"more than {DEEPEST} folders deep")
        children: Sequence[Entry] = self.log.attempt(key, trail, node.children) or []
        clone = next((child for child in children if is_exercises(child)), None)
        for index, child in enumerate(children):
            where, reason = trail + child.name, passed_over(child)
            if reason or clone not in (None, child):
                self.log.leave_out(key, child, where, reason or BESIDE)
                continue
            self.entries[key] += 1
            if self.entries[key] > MOST_ENTRIES:
                reason = f"more than {MOST_ENTRIES:,} entries: the rest was not looked at"
                return self.refuse_unseen(key, children[index:], trail, reason)
            inner = exercise_of_folder(archives.stem(child.name) if child.kind == "file" else child.name)
            container = child.kind == "dir" or archives.is_archive(child.name)
            self.walk_entry(key, child, child.name, where, (container and inner) or hint, depth + container)

    def refuse_unseen(self, key: str, nodes: Sequence[Entry], trail: str, reason: str) -> None:
        """Refuse entries that are not examined, only counted."""
        files = sum(self.log.count(key, node) for node in nodes)
        self.log.files += files
        self.log.refuse(key, trail, reason, files)


def passed_over(node: Entry) -> str:
    """Why an entry of a student is not their work, or "" where it may be."""
    return hidden(node) or (TOOLING if node.kind == "dir" and node.name.lower() in SKIPPED else "")


def hidden(node: Entry) -> str:
    """Why an entry is hidden, or "" where it is not."""
    if node.kind in ("outside", "again"):
        return ""
    if node.name.lower() == "__macosx" or node.name.startswith("._"):
        return FORKS
    return HIDDEN if node.name.startswith(".") else ""


def is_exercises(node: Entry) -> bool:
    """Whether this is the folder exercises/ of a clone of this repository."""
    return node.name == "exercises" and node.kind == "dir" and any(exercise_of_folder(c.name) for c in inside(node))


def inside(node: Entry) -> Sequence[Entry]:
    """The entries of a folder; none where it cannot be read."""
    try:
        return node.children()
    except OSError:
        return []


def kind_reason(kind: str) -> str:
    """Why an entry of this kind is refused."""
    reasons = {
        "link": "a link: links are not followed. Hand in the file itself",
        "outside": "its name leads out of the archive",
        "long": f"its name is longer than {beneath.MAX_NAME} bytes",
        "again": "another entry of the archive has this name: the later one counts",
    }
    return reasons.get(kind, "no regular file")


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
                node = node.open()
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


def exercise_of_entry(node: Entry) -> str | None:
    """The exercise after which a folder or an archive is named, or None."""
    if node.kind == "dir":
        return exercise_of_folder(node.name)
    is_archive = node.kind == "file" and archives.is_archive(node.name)
    return exercise_of_folder(archives.stem(node.name)) if is_archive else None


def _named(node: Entry, download: bool = True) -> set[str]:
    """Whom a folder or an archive names, where a platform named everything in it.

    download: an archive has the limits of a download, else those of a student's.
    """
    if owner_of(node.name):
        return set()
    try:
        inner = node.children() if node.kind == "dir" else node.open(download).children()
    except (BadSubmission, NoSuchFile, OSError):
        return set()
    owners = [owner_of(child.name) for child in inner if not (hidden(child) or is_class_file(child))]
    return {owner.key for owner in owners if owner} if all(owners) else set()


def _of_course(node: Entry) -> bool:
    return node.name in COURSE_FOLDERS or is_class_file(node)


def _is_answer(name: str) -> bool:
    return is_code(name) and name.lower() not in EXPECTED


def _holds_code(node: Entry) -> bool:
    return any(child.kind == "file" and is_code(child.name) and not owner_of(child.name) for child in inside(node))
