"""Walks the submission of one student: nested folders and archives, each file once."""

from collections import Counter
from collections.abc import Sequence

from grader.catalog import Exercise
from grader.classroom.intake import archives, beneath
from grader.classroom.intake.collector import Collector
from grader.classroom.intake.exercise_names import exercise_of_folder, is_code
from grader.classroom.intake.folders import Entry
from grader.records import limited

SKIPPED = {"__pycache__", "node_modules", "venv", "env", "solutions", "tests", "grader", "build"}
DEEPEST, MOST_ENTRIES, MOST_ARCHIVES = 12, 10_000, 30  # of one student: folders below one another, entries, archives
MOST_SECONDS = 5.0  # processor time to open the archives of one student; honest ones take a hundredth
HIDDEN, FORKS = "hidden", "made by macOS"
TOOLING = "in venv/, tests/, build/ and the like"
BESIDE = "beside exercises/ in a clone"


class Walker(Collector):
    """Walks the folders of students whose names are certain."""

    def __init__(self, exercises: Sequence[Exercise]) -> None:
        super().__init__(exercises)
        self.entries: Counter[str] = Counter()  # entries that were walked, by student
        self.archives: Counter[str] = Counter()  # archives that were opened, by student
        self.seconds: Counter[str] = Counter()  # processor time that opening them took, by student

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
            elif opened := self.opened(key, node, where):
                self.walk_student(key, opened, where + ":", hint, depth)
            else:
                self.note_unusable(key, name, "the archive cannot be opened", hint)
        else:
            self.log.files += 1
            if node.kind != "file":
                self.refuse(key, name, where, kind_reason(node.kind), hint)
            elif is_code(name):
                self.collect_code(key, node, name, where, hint, depth)
            else:
                self.leave_out_foreign(key, name, where, hint)

    def opened(self, key: str, node: Entry, where: str):
        """The root of a student's archive; None where it was refused."""
        before = limited.spent()
        try:
            return self.log.attempt(key, where, node.opened)
        finally:
            self.seconds[key] += limited.spent() - before

    def walk_student(self, key: str, node: Entry, trail: str, hint: str | None = None, depth: int = 0) -> None:
        """Walk a student's folder. hint: the exercise whose folder this is, or lies in."""
        if depth > DEEPEST:
            return self.refuse_unseen(key, [node], trail, f"more than {DEEPEST} folders deep")
        children = self.log.attempt(key, trail, node.children) or []
        clone = next((child for child in children if is_exercises(child)), None)
        for index, child in enumerate(children):
            where, reason = trail + child.name, passed_over(child)
            if reason or clone not in (None, child):
                self.log.leave_out(key, child, reason or BESIDE)
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
