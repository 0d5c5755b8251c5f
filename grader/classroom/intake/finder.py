"""Finds the submissions of a class: whose each file is, and to which exercise it belongs. It goes by names.

What a file holds is read only to say for which exercise it may be, where its name says none, and of several files for
one exercise whether something is written in them.

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

import difflib
import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from grader.catalog import Exercise
from grader.catalog.errors import BadSubmission, NoSuchFile, WrongUse
from grader.classroom.handins import Found, Origin
from grader.classroom.intake import archives, collector, names
from grader.classroom.intake.collector import Entry
from grader.classroom.intake.names import (
    GRADESCOPE,
    Claim,
    Owner,
    exercise_of_download,
    owner_of,
    possible_owners,
    submitters_of,
    times_of,
)
from grader.classroom.intake.walker import (
    FORKS,
    METADATA,
    Recognizer,
    Walker,
    exercise_of_entry,
    hidden,
    inside,
    is_class_file,
    is_clone,
    is_container,
    is_exercises,
    kind_reason,
)
from grader.records.sanitize import label

HIDDEN_TOOLS = {".git", ".github", ".ipynb_checkpoints", ".venv", ".idea", ".vscode", ".cache", ".trash"}
CLASS_FILE, ONLINE = "a platform's or course's own", "typed online in Moodle"  # why a file is left out
STRAY = "neither a student's folder nor an archive"
# Endings of files that an instructor or a platform keeps beside the hand-ins.
OF_COURSE = (".csv", ".tsv", ".xls", ".xlsx", ".ods", ".toml", ".json", ".yml", ".yaml", ".log", ".html", ".md", ".db")
# What a person is asked to do.
NAME_IT = "put it into a folder that is named after the student"
LOOSE = f"{NAME_IT}; if it is no hand-in, move it out of here"
RENAME_IT = "if it is a student's, rename it after the student"
ALONE = (
    "let only downloads lie here, and put a hand-in that came in another way into one of them, named as its files are"
)
MOVE_IT = "move it out of here and name it alone as SUBMISSIONS"
# The id and name of everybody who handed in a folder, and when they did, by the folder's name.
Submitters = dict[str, list[tuple[str, str]]]
Times = dict[str, datetime]
NBGRADER = "nbgrader"
LIES_BESIDE = "beside submitted/ in a course"  # why a file is left out
NAME_THEM = "find out whose each is, and give each student one folder with a name unlike all others"


class ClassWalker(Walker):
    """Claims the entries of a class for students. trail: the place of the class below the folder that was named."""

    def __init__(self, exercises: Sequence[Exercise]) -> None:
        super().__init__(exercises)
        self.recognizer = Recognizer(self.only)
        self.claims: list[Claim] = []

    def walk_class(self, children: Sequence[Entry], trail: str, hint: str | None) -> None:
        """Treat each entry as a student's. hint: the exercise whose download this is."""
        if hint is None and not trail and self.recognizer.are_downloads(children):
            return self.walk_downloads(children)
        submitters, times = self.submitters(children)
        may_hold_downloads = hint is None and not self._holds_students(children)
        for child in children:
            where, exercise = trail + child.name, exercise_of_entry(child) if hint is None else None
            if reason := hidden(child) or (CLASS_FILE if is_class_file(child) else ""):
                self._leave_out_or_ask(child, where, reason)
            elif child.kind not in ("dir", "file"):
                self.log.files += 1
                self.log.refuse("", where, kind_reason(child.kind))
            elif (owner := owner_of(child.name)) and (child.kind == "file" or owner.platform == "Moodle"):
                self._claim_for_owner(child, owner, trail, hint)
            elif exercise and may_hold_downloads:
                self.walk_download(child, where, exercise)
            elif exercise:
                question = "it is called like an exercise: a whole download, or a student's entry with that name?"
                self.ask_one(child, where, _key(child), question, f"{RENAME_IT}; if it is a download, {MOVE_IT}")
            elif hint is None and self.is_called_like_a_layout(child):
                question = "it is called like the folder that holds a class, and lies beside students' entries"
                self.ask_one(child, where, _key(child), question, f"{RENAME_IT}; if it holds the class, {MOVE_IT}")
            elif child.kind == "dir" and child.name in submitters:
                self._claim_for_submitters(child, submitters[child.name], times.get(child.name), trail, hint)
            elif hint is None and not trail and self.recognizer.is_download(child):
                question = "it is full of files with names of Moodle or Canvas, and lies beside entries that are not"
                self.ask_one(child, where, _key(child), question, f"{RENAME_IT}; if it is a download, {ALONE}")
            elif is_container(child):
                is_export = child.kind == "dir" and GRADESCOPE.fullmatch(child.name)
                layout = "an archive a student" if child.kind == "file" else "a folder a student"
                people = ((_key(child), label(_key(child))),)
                layout = "Gradescope's export" if is_export else layout
                self.claims.append(Claim(_key(child), people, "", layout, child, child.name, where, hint, trail))
            else:
                self._handle_single_file(child, where)

    def walk_downloads(self, children: Sequence[Entry]) -> None:
        """Walk a folder of nothing but downloads of Moodle or Canvas, as of several assignments or weeks."""
        for child in children:
            reason = hidden(child) or (CLASS_FILE if is_class_file(child) else "")
            if reason:
                self.log.leave_out("", child, child.name, reason)
            elif not is_container(child):
                self._handle_single_file(child, child.name)
            else:
                self.walk_download(child, child.name, exercise_of_download(archives.stem(child.name)))

    def walk_download(self, child: Entry, where: str, exercise: str | None) -> None:
        """Walk one download, of an exercise where its name says so: a folder or an archive with a class in it."""
        children: Sequence[Entry] = ()
        if child.kind == "dir":
            children = self.log.attempt("", where, child.children) or ()
        elif opened := self.log.attempt("", where, lambda: child.open(True)):
            children = opened.children()
        self.walk_class(children, where + ("/" if child.kind == "dir" else ":"), exercise)

    def ask_one(self, node: Entry, where: str, who: str, reason: str, to_do: str) -> None:
        """List one entry as in need of a person. who: the name of the student that it could concern, or ""."""
        self.log.ask([(node, where)], [who] if who else (), reason, to_do)

    def is_hidden_student(self, node: Entry) -> bool:
        """Whether a hidden entry looks like a student's."""
        if hidden(node) == FORKS or node.name.lower() in HIDDEN_TOOLS or node.kind not in ("dir", "file"):
            return False
        return self.recognizer.is_like_a_students(node)

    def is_called_like_a_layout(self, node: Entry) -> bool:
        """Whether this is a folder with the name of one that holds a class or its exercises, and such content."""
        is_submitted = node.kind == "dir" and node.name == "submitted"
        return is_exercises(node) or (is_submitted and any(map(self.recognizer.is_like_a_students, inside(node))))

    def submitters(self, children: Sequence[Entry]) -> tuple[Submitters, Times]:
        """Gradescope's list of the people who handed in each folder, and of the times; empty where there is none."""
        for child in children:
            if child.name == METADATA and child.kind == "file":
                text = child.text()
                return submitters_of(text), times_of(text)
        return {}, {}

    def _holds_students(self, children: Sequence[Entry]) -> bool:
        """Whether a student's entry lies beside entries that are named after exercises."""
        if not any(map(exercise_of_entry, children)):
            return False
        others = (c for c in children if not (hidden(c) or exercise_of_entry(c) or is_class_file(c)))
        return any(map(self.recognizer.is_like_a_students, others))

    def _leave_out_or_ask(self, child: Entry, where: str, reason: str) -> None:
        """Leave out a hidden entry or a file of the class, but ask about a hidden one that looks like a student's."""
        if hidden(child) and self.is_hidden_student(child):
            self.ask_one(child, where, _key(child), "its name is hidden, but it holds answers", NAME_IT)
        else:
            self.log.leave_out("", child, where, reason)

    def _claim_for_owner(self, child: Entry, owner: Owner, trail: str, hint: str | None) -> None:
        """Claim an entry that Moodle or Canvas named. Where its name could mean several students, a person is asked."""
        where, possible = trail + child.name, possible_owners(child.name)
        if len(possible) > 1:
            question = f"its name holds several numbers that could be the student's: {', '.join(possible)}"
            self.log.ask([(child, where)], possible, question, NAME_IT)
        elif owner.platform == "Moodle" and owner.kind != "file":
            self.log.leave_out("", child, where, ONLINE)
            reason = f"Moodle keeps here what was typed online ({label(owner.kind)}), not a file"
            self.log.list_file("", where, reason)
        else:
            form = "late files" if owner.late else "folders" if child.kind == "dir" else "files"
            people, remaining_name = ((owner.key, label(owner.name)),), owner.rest or child.name
            layout = f"{owner.platform}'s {form}"
            claim = Claim(
                owner.key, people, owner.platform, layout, child, remaining_name, where, hint, trail, owner.late
            )
            self.claims.append(claim)

    def _claim_for_submitters(
        self, child: Entry, submitters: list[tuple[str, str]], time: datetime | None, trail: str, hint: str | None
    ) -> None:
        """Claim a folder of Gradescope's export for all who handed it in."""
        where, people = trail + child.name, tuple((id, label(name)) for id, name in submitters)
        if len({id for id, _ in people}) < len(people):
            reason = f"{METADATA} tells two people of it that have one id"
            self.log.ask([(child, where)], [name for _, name in people], reason, f"give each an id in {METADATA}")
        else:
            layout = "Gradescope's export"
            self.claims.append(
                Claim(where, people, "Gradescope", layout, child, child.name, where, hint, trail, time=time)
            )

    def _handle_single_file(self, child: Entry, where: str) -> None:
        """A file that is no archive and names no student: ask whose it is, unless it is a file of the course."""
        if child.name.lower().endswith(OF_COURSE):
            self.log.leave_out("", child, where, STRAY)
            self.log.list_file("", where, STRAY)
        else:
            self.ask_one(child, where, "", "whose is it? It lies in no student's folder", LOOSE)


def find(folder: Path, exercises: Sequence[Exercise]) -> Found:
    """The submissions for these exercises in a folder, or in an archive. Raises WrongUse where it cannot be read."""
    root: Entry = collector.root_folder(folder)
    finder = Finder(exercises)
    try:
        if root.kind == "file" and archives.is_archive(root.name):
            root = root.open(download=True)
        elif root.kind == "file":
            if not folder.exists():
                raise WrongUse(no_folder(folder))
            raise WrongUse(f"{folder} is no folder. To grade single files: make grade EX=03 FILES={folder}")
        finder.start(root, folder.name)
    except (BadSubmission, NoSuchFile) as error:
        raise WrongUse(f"{folder} cannot be opened: {error}") from None
    except OSError as error:
        raise WrongUse(f"{folder} cannot be read: {error.strerror}") from None
    return finder.result()


def no_folder(folder: Path) -> str:
    """The sentence on a folder that is not there, with the nearest name beside it."""
    beside = os.listdir(folder.parent) if folder.parent.is_dir() else []
    beside = [name for name in beside if not name.startswith(".")]
    close = difflib.get_close_matches(folder.name, beside, n=1)
    return f"There is no folder {folder}." + (f" Did you mean {folder.parent / close[0]}?" if close else "")


def find_one(folder: Path, exercises: Sequence[Exercise]) -> Found:
    """The submissions in a folder that certainly is one student's, as a platform lays it out. Raises WrongUse."""
    root = collector.root_folder(folder)
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

    def start(self, root: Entry, name: str) -> None:
        """Find the folder that holds the students, and walk it. name: of what the instructor named.

        The name of a platform's download says the exercise, whether it is named, or alone in what is named.
        """
        for _ in range(4):
            self.root, self.place = root, root.path
            children = root.children()
            visible = [child for child in children if not hidden(child)]
            submitted = next((c for c in visible if c.name == "submitted" and c.kind == "dir"), None)
            if submitted and self.recognizer.is_course(visible, submitted):
                self.layouts["nbgrader's folder submitted/"] += 1
                inner, reason = submitted, LIES_BESIDE
            elif self.recognizer.is_one_students(children, visible):
                return self.walk_one_student(root)
            elif len(visible) == 1 and self.recognizer.is_wrapper(visible[0]):
                inner, reason = visible[0], ""
            else:
                break
            for child in children:
                if child is not inner:
                    why = hidden(child) or (CLASS_FILE if is_class_file(child) else reason)
                    self.log.leave_out("", child, child.name, why)
            root, name = inner, inner.name
            self.is_course = inner is submitted
            if inner is submitted:  # it holds students, even if there is only one
                self.root, self.place, children = root, root.path, root.children()
                break
        entries = [child for child in children if not (hidden(child) or is_class_file(child))]
        is_download = bool(entries) and all(owner_of(child.name) for child in entries)
        hint = names.exercise_of_download(archives.stem(name)) if is_download else None
        self.walk_class(children, f"{root.member}/" if root.member else "", hint)
        self.settle()

    def walk_one_student(self, root: Entry) -> None:
        """Walk the folder of one student."""
        self.layouts["one student's folder"] += 1
        self.people[root.name] = ((root.name, label(root.name)),)
        self.walk_student(root.name, root, "")

    def settle(self) -> None:
        """Walk the entries whose student is certain, and list the others as in need of a person."""
        self.clones = sorted({c.key for c in self.claims if not c.platform and is_clone(c.node)})
        self.shorter = names.without_prefix(self.clones, self.root.name)
        ambiguous: set[str] = set()
        for conflict in names.conflicts(self.claims, self.shorter, self.recognizer.holds_work):
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
            self.download = claim.container
            if claim.hint:
                self.subjects[self.download] = {claim.hint}
            self.origins[claim.key] = Origin(
                platform, claim.key, claim.node.name, claim.late, clone, claim.time, claim.hint or ""
            )
            self.walk_entry(claim.key, claim.node, claim.rest, claim.where, claim.hint)
        self.claims.clear()


def _key(child: Entry) -> str:
    """The student's key in the name of an entry that no platform made."""
    return archives.stem(child.name) if child.kind == "file" else child.name
