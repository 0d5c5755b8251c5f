"""Finds the submissions of a class: whose each file is, and to which exercise it belongs. It reads only names.

It understands these layouts, also mixed, nested, or in one zip file as it was downloaded:

    <student>/<NN_slug>/<slug>.py or .ipynb     <student>/<slug>.py, <student>/03.py
    submitted/<student>/<assignment>/….ipynb    nbgrader
    <student>.zip, .tar.gz, .tgz                one archive a student
    First Last_123_assignsubmission_file_/…     Moodle, with folders or without
    lastfirst_123_456_context_vectors.py        Canvas
    assignment-user/exercises/<NN_slug>/…       clones of this repository
    submission_123/…                            Gradescope's export
    <NN_slug>/ around any of these              one download an exercise
    <any name>.zip, all of Moodle or Canvas     several downloads, of assignments or weeks

Where a name is ambiguous, the grader does not guess: it asks a person (see `claims`), and grades all others.
"""

from collections.abc import Sequence
from pathlib import Path

from grader.catalog import Exercise
from grader.catalog.errors import BadSubmission, NoSuchFile, WrongUse
from grader.classroom.handins import Found, Origin
from grader.classroom.intake import archives, claims, folders, student_ids
from grader.classroom.intake.class_walker import CLASS_FILE, ClassWalker
from grader.classroom.intake.folders import Entry
from grader.classroom.intake.recognizer import is_class_file, is_clone
from grader.classroom.intake.walker import hidden
from grader.records.sanitize import label

NBGRADER = "nbgrader"
BESIDE = "beside submitted/ in a course"  # why a file is left out
NAME_THEM = "find out whose each is, and give each student one folder with a name unlike all others"


def find(folder: Path, exercises: Sequence[Exercise]) -> Found:
    """The submissions for these exercises in a folder, or in an archive. Raises WrongUse where it cannot be read."""
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
    return finder.result()


def find_one(folder: Path, exercises: Sequence[Exercise]) -> Found:
    """The submissions in a folder that certainly is one student's, as a platform lays it out. Raises WrongUse."""
    root = folders.root(folder)
    finder = Finder(exercises)
    if root.kind != "dir":
        raise WrongUse(f"There is no folder {folder}.")
    finder.root, finder.place = root, root.path
    finder.walk_one_student(root)
    return finder.result()


class Finder(ClassWalker):
    """Assigns the entries of a class to students and exercises."""

    def __init__(self, exercises: Sequence[Exercise]) -> None:
        super().__init__(exercises)
        self.is_course = False  # whether it is a course of nbgrader

    def start(self, root: Entry) -> None:
        """Find the folder that holds the students, and walk it."""
        for _ in range(4):
            self.root, self.place = root, root.path
            children = root.children()
            visible = [child for child in children if not hidden(child)]
            submitted = next((c for c in visible if c.name == "submitted" and c.kind == "dir"), None)
            if submitted and self.recognizer.is_course(visible, submitted):
                self.layouts["nbgrader's folder submitted/"] += 1
                inner, reason = submitted, BESIDE
            elif self.recognizer.is_one_students(children, visible):
                return self.walk_one_student(root)
            elif len(visible) == 1 and self.recognizer.is_wrapper(visible[0]):
                inner, reason = visible[0], ""
            else:
                break
            for child in children:
                if child is not inner:
                    self.log.leave_out("", child, hidden(child) or (CLASS_FILE if is_class_file(child) else reason))
            root = inner
            self.is_course = inner is submitted
            if inner is submitted:  # it holds students, even if there is only one
                self.root, self.place, children = root, root.path, root.children()
                break
        self.walk_class(children, f"{root.member}/" if root.member else "", None)
        self.settle()

    def walk_one_student(self, root: Entry) -> None:
        """Walk the folder of one student."""
        self.layouts["one student's folder"] += 1
        self.people[root.name] = ((root.name, label(root.name)),)
        self.walk_student(root.name, root, "")

    def settle(self) -> None:
        """Walk the entries whose student is certain, and list the others as in need of a person."""
        self.clones = sorted({c.key for c in self.claims if not c.platform and is_clone(c.node)})
        self.shorter = student_ids.without_prefix(self.clones, self.root.name)
        ambiguous: set[str] = set()
        for conflict in claims.conflicts(self.claims, self.shorter, self.recognizer.holds_work):
            entries = [(claim.node, claim.where) for claim in conflict.claims if claim.where not in ambiguous]
            ambiguous.update(where for _, where in entries)
            if entries:
                self.log.ask(entries, conflict.who, conflict.why, NAME_THEM)
        downloads = any(claim.hint for claim in self.claims)
        for claim in self.claims:
            if claim.where in ambiguous:
                continue
            if claim.key not in self.people:
                self.people[claim.key] = claim.people
                self.layouts[claim.layout] += 1
            is_own = not claim.platform and not claim.node.member  # a folder in an archive is not read as a clone
            clone = claim.node.place if is_own and is_clone(claim.node) else ""
            (self.beside.add if downloads and not (claim.hint or claim.platform) else self.beside.discard)(claim.key)
            platform = claim.platform or NBGRADER * self.is_course
            self.origins[claim.key] = Origin(platform, claim.key, claim.node.name, claim.late, clone, claim.time)
            self.walk_entry(claim.key, claim.node, claim.rest, claim.where, claim.hint)
        self.claims.clear()
