"""Finds what a class has handed in: whose each file is and which exercise it belongs to. Reads names alone.

It understands, also mixed, one below the other, or in one zip as it was downloaded:

    <student>/<NN_slug>/<slug>.py or .ipynb     <student>/<slug>.py, <student>/03.py
    submitted/<student>/<assignment>/….ipynb    nbgrader
    <student>.zip, .tar.gz, .tgz                one archive a student
    First Last_123_assignsubmission_file_/…     Moodle, with folders or without
    lastfirst_123_456_context_vectors.py        Canvas
    assignment-user/exercises/<NN_slug>/…       clones of this repository
    submission_123/…                            Gradescope's export
    <NN_slug>/ around any of these              one download an exercise
"""

from collections.abc import Sequence
from pathlib import Path

from grader.catalog import Exercise
from grader.classroom import archives, folders, names
from grader.classroom.collecting import EXPECTED, Collector, is_code, reading_of
from grader.classroom.records import Found
from grader.errors import WrongUse
from grader.report.inert import label
from grader.submission import BadSubmission, NoSuchFile

SKIPPED = {"__pycache__", "__macosx", "node_modules", "venv", "env", "solutions", "tests", "grader", "build"}
CLASS_FILES = {"submission_metadata.yml", "gradebook.db", "nbgrader_config.py", *EXPECTED}
DEEPEST, MOST_ENTRIES = 12, 10_000  # folders below one another, and entries, of one student


def find(folder: Path, exercises: Sequence[Exercise]) -> Found:
    """What lies in the folder, or in the archive of that name, for these exercises. Raises WrongUse."""
    root = folders.root(folder)
    finder = Finder(exercises)
    try:
        if root.kind == "file" and archives.is_archive(root.name):
            root = root.opened(download=True)
        elif root.kind == "file":
            raise WrongUse(f"There is no folder {folder}." if not folder.exists() else f"{folder} is no folder.")
        finder.start(root)
    except (BadSubmission, NoSuchFile) as error:
        raise WrongUse(f"{folder} cannot be opened: {error}") from None
    except OSError as error:
        raise WrongUse(f"{folder} cannot be read: {error.strerror}") from None
    return finder.found()


def find_one(folder: Path, exercises: Sequence[Exercise]) -> Found:
    """The same for a folder that is surely one student's, as a platform lays it out. Raises WrongUse."""
    root = folders.root(folder)
    finder = Finder(exercises)
    finder.root, finder.place = root, root.path
    finder.add(root.name, root.name, "one student's folder")
    if root.kind != "dir":
        raise WrongUse(f"There is no folder {folder}.")
    finder.student(root.name, root, "")
    return finder.found()


class Finder(Collector):
    """Walks the folders once."""

    # The class.

    def start(self, root) -> None:
        """Find the folder that holds the students, and walk it."""
        for _ in range(4):
            self.root, self.place = root, root.path
            children = [child for child in root.children() if not _hidden(child)]
            submitted = next((c for c in children if c.name == "submitted" and c.kind == "dir"), None)
            if submitted:
                self.layouts["nbgrader's folder submitted/"] += 1
                root = submitted
            elif self.is_one_students(children):
                self.add(root.name, root.name, "one student's folder")
                return self.student(root.name, root, "")
            elif len(children) == 1 and self.is_wrapper(children[0]):
                root = children[0]
            else:
                break
        self.metadata(children)
        self.a_class(children, f"{root.member}/" if root.member else "", None)

    def is_one_students(self, children) -> bool:
        """Whether exercises lie here, not students."""
        if any(names.owner(child.name) for child in children):
            return False
        if any(child.name == "exercises" and _named_after_exercises(child) for child in children):
            return True
        files = sum(c.kind == "file" and is_code(c.name) and bool(reading_of(c.name).exercise) for c in children)
        own = [c for c in children if c.kind == "dir" and names.folder_of(c.name) and _holds_code(c)]
        others = sum(c.kind == "dir" or archives.is_archive(c.name) for c in children) - len(own)
        return len(own) > others or (bool(own) and len(own) == others) or files > others + len(own)

    def is_wrapper(self, child) -> bool:
        """Whether the only folder there is holds the class, not one student's files."""
        if child.kind != "dir" or names.owner(child.name) or names.folder_of(child.name):
            return False
        inside = [entry for entry in child.children() if not _hidden(entry)]
        return any(names.owner(entry.name) or names.GRADESCOPE.fullmatch(entry.name) for entry in inside) or (
            any(entry.kind == "dir" or archives.is_archive(entry.name) for entry in inside)
            and not self.is_one_students(inside)
        )

    def a_class(self, children, trail: str, hint: str | None) -> None:
        """Take each entry as a student's; hint: the exercise whose download this is."""
        for child in children:
            where, owner = trail + child.name, names.owner(child.name)
            inside = hint or names.folder_of(archives.stem(child.name))
            if _hidden(child) or child.name.lower() in CLASS_FILES:
                continue
            if child.kind not in ("dir", "file"):
                self.refuse("", where, _kind_reason(child.kind))
            elif owner and owner.platform == "Moodle" and owner.kind != "file":
                self.refuse("", where, f"Moodle keeps here what was typed online ({label(owner.kind)}), not a file")
            elif owner and (child.kind == "file" or owner.platform == "Moodle"):
                form = "late files" if owner.late else "folders" if child.kind == "dir" else "files"
                self.add(owner.key, owner.name, f"{owner.platform}'s {form}")
                self.of_student(owner.key, child, owner.rest or child.name, where, hint)
            elif child.kind == "dir" and hint is None and inside:
                self.attempt(where, lambda c=child, w=where, i=inside: self.a_class(c.children(), w + "/", i))
            elif child.kind == "dir":
                self.add_folder(child.name)
                self.of_student(child.name, child, child.name, where, hint)
            elif archives.is_archive(child.name) and hint is None and inside:
                self.attempt(
                    where, lambda c=child, w=where, i=inside: self.a_class(c.opened(True).children(), w + ":", i)
                )
            elif archives.is_archive(child.name):
                key = archives.stem(child.name)
                self.add(key, key, "an archive a student")
                self.of_student(key, child, child.name, where, hint)
            elif is_code(child.name):
                self.refuse("", where, "whose is it? Put it into a folder named after the student")
            else:
                self.refuse("", where, "neither a student's folder nor an archive that is understood")

    def metadata(self, children) -> None:
        """Gradescope's list of who handed in what, if it is there."""
        self.submitters: dict[str, list[tuple[str, str]]] = {}
        for child in children:
            if child.name == "submission_metadata.yml" and child.kind == "file":
                self.submitters = names.submitters(child.text())

    def add_folder(self, name: str) -> None:
        form = "Gradescope's export" if names.GRADESCOPE.fullmatch(name) else "a folder a student"
        self.add(name, name, form)
        if known := self.submitters.get(name):
            self.people[name] = known

    # One student.

    def of_student(self, key: str, node, name: str, where: str, hint: str | None) -> None:
        """One entry that is surely the student's; `name`: as the student called it."""
        if node.kind == "dir":
            self.student(key, node, where + "/", hint)
        elif archives.is_archive(name):
            self.attempt(where, lambda: self.student(key, node.opened(), where + ":", hint), key)
        elif is_code(name):
            self.code(key, node, name, where, hint, 0)
        else:
            self.foreign(key, name, where)

    def student(self, key: str, node, trail: str, hint: str | None = None, deep: int = 0) -> None:
        """Walk a student's folder. hint: the exercise whose folder this is, or lies in."""
        if deep > DEEPEST:
            return self.refuse(key, trail, f"more than {DEEPEST} folders deep")
        children: list = []
        self.attempt(trail, lambda: children.extend(node.children()), key)
        clone = next((c for c in children if c.name == "exercises" and c.kind == "dir"), None)
        if clone is not None and _named_after_exercises(clone):
            if any(child.name == ".git" for child in children):
                self.clones.append(key)
            return self.student(key, clone, f"{trail}exercises/", hint, deep + 1)
        for child in children:
            where = trail + child.name
            if _hidden(child) or (child.kind == "dir" and child.name.lower() in SKIPPED):
                continue
            self.entries[key] += 1
            if self.entries[key] > MOST_ENTRIES:
                return self.refuse(key, trail, f"more than {MOST_ENTRIES:,} entries: the rest was not looked at")
            if child.kind not in ("dir", "file"):
                self.refuse(key, where, _kind_reason(child.kind))
            elif child.kind == "dir":
                self.student(key, child, where + "/", names.folder_of(child.name) or hint, deep + 1)
            elif archives.is_archive(child.name):
                reopened = names.folder_of(archives.stem(child.name)) or hint
                self.attempt(
                    where, lambda c=child, w=where, h=reopened: self.student(key, c.opened(), w + ":", h, deep + 1), key
                )
            elif is_code(child.name):
                self.code(key, child, child.name, where, hint, deep)
            else:
                self.foreign(key, child.name, where)


def _hidden(node) -> bool:
    return node.kind != "outside" and (node.name.startswith(".") or node.name.lower() == "__macosx")


def _holds_code(node) -> bool:
    return any(child.kind == "file" and is_code(child.name) and not names.owner(child.name) for child in _inside(node))


def _named_after_exercises(node) -> bool:
    return node.kind == "dir" and any(names.folder_of(child.name) for child in _inside(node))


def _inside(node) -> list:
    try:
        return node.children()
    except OSError:
        return []


def _kind_reason(kind: str) -> str:
    if kind == "link":
        return "a link: links are not followed. Hand in the file itself"
    if kind == "outside":
        return "its name leads out of the archive"
    return "no regular file"
