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

Where a name is ambiguous, the grader does not guess: a person is asked (see `claims`), and all others are graded.
"""

from collections.abc import Sequence
from pathlib import Path

from grader.catalog import Exercise
from grader.catalog.errors import BadSubmission, NoSuchFile, WrongUse
from grader.classroom.handins import Found, Origin
from grader.classroom.intake import archives, claims, folders, names, student_ids
from grader.classroom.intake.claims import Claim
from grader.classroom.intake.collector import is_code, reading_of
from grader.classroom.intake.folders import Entry
from grader.classroom.intake.recognizer import (
    METADATA,
    Recognizer,
    exercise_of_entry,
    is_class_file,
    is_clone,
    is_container,
)
from grader.classroom.intake.walker import (
    FORKS,
    Walker,
    hidden,
    inside,
    is_exercises,
    kind_reason,
)
from grader.records.sanitize import label

HIDDEN_TOOLS = {".git", ".github", ".ipynb_checkpoints", ".venv", ".idea", ".vscode", ".cache", ".trash"}
LISTS, ONLINE = "a platform's or course's own", "typed online in Moodle"  # why a file is left out
NBGRADER = "nbgrader"
BESIDE, STRAY = "beside submitted/ in a course", "neither a student's folder nor an archive"

# What a person is told to do.
NAME_IT = "put it into a folder that is named after the student"
RENAME_IT = "if it is a student's, rename it after the student"
APART = "move it out of here and name it alone as SUBMISSIONS"
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
    return finder.found()


def find_one(folder: Path, exercises: Sequence[Exercise]) -> Found:
    """The submissions in a folder that certainly is one student's, as a platform lays it out. Raises WrongUse."""
    root = folders.root(folder)
    finder = Finder(exercises)
    if root.kind != "dir":
        raise WrongUse(f"There is no folder {folder}.")
    finder.root, finder.place = root, root.path
    finder.one_student(root)
    return finder.found()


class Finder(Walker):
    """Assigns the entries of a class to students and exercises."""

    def __init__(self, exercises: Sequence[Exercise]) -> None:
        super().__init__(exercises)
        self.recognizer = Recognizer(self.only)
        self.claims: list[Claim] = []
        self.is_course = False  # of nbgrader

    def start(self, root: Entry) -> None:
        """Find the folder that holds the students, and walk it."""
        for _ in range(4):
            self.root, self.place = root, root.path
            children = root.children()
            seen = [child for child in children if not hidden(child)]
            submitted = next((c for c in seen if c.name == "submitted" and c.kind == "dir"), None)
            if submitted and self.recognizer.is_course(seen, submitted):
                self.layouts["nbgrader's folder submitted/"] += 1
                inner, reason = submitted, BESIDE
            elif self.recognizer.is_one_students(children, seen):
                return self.one_student(root)
            elif len(seen) == 1 and self.recognizer.is_wrapper(seen[0]):
                inner, reason = seen[0], ""
            else:
                break
            for child in children:
                if child is not inner:
                    self.leave("", child, hidden(child) or (LISTS if is_class_file(child) else reason))
            root = inner
            self.is_course = inner is submitted
            if inner is submitted:  # students lie there, be it a single one
                self.root, self.place, children = root, root.path, root.children()
                break
        self.a_class(children, f"{root.member}/" if root.member else "", None)
        self.settle()

    def one_student(self, root: Entry) -> None:
        """Walk the folder of one student."""
        self.layouts["one student's folder"] += 1
        self.people[root.name] = ((root.name, label(root.name)),)
        self.student(root.name, root, "")

    # The class.

    def a_class(self, children: Sequence[Entry], trail: str, hint: str | None) -> None:
        """Treat each entry as a student's. hint: the exercise whose download this is."""
        if hint is None and not trail and self.recognizer.are_downloads(children):
            return self.all_downloads(children)
        submitters = self.submitters(children)
        beside = [
            child for child in children if not (hidden(child) or exercise_of_entry(child) or is_class_file(child))
        ]
        downloads = hint is None and not any(
            map(self.recognizer.is_like_a_students, beside if _any_exercise(children) else ())
        )
        for child in children:
            where, key = trail + child.name, archives.stem(child.name) if child.kind == "file" else child.name
            owner, possible = names.owner(child.name), names.possible_owners(child.name)
            exercise, why = exercise_of_entry(child) if hint is None else None, hidden(child)
            if why or is_class_file(child):
                if why and self.is_student_in_hiding(child):
                    self.ask_one(child, where, key, "its name is hidden, but it holds answers", NAME_IT)
                else:
                    self.leave("", child, why or LISTS)
            elif child.kind not in ("dir", "file"):
                self.files += 1
                self.refuse("", where, kind_reason(child.kind))
            elif owner and len(possible) > 1 and (child.kind == "file" or owner.platform == "Moodle"):
                why = f"its name holds several numbers that could be the student's: {', '.join(possible)}"
                self.ask([(child, where)], possible, why, NAME_IT)
            elif owner and owner.platform == "Moodle" and owner.kind != "file":
                self.leave("", child, ONLINE)
                self.tell("", where, f"Moodle keeps here what was typed online ({label(owner.kind)}), not a file")
            elif owner and (child.kind == "file" or owner.platform == "Moodle"):
                form = "late files" if owner.late else "folders" if child.kind == "dir" else "files"
                people, rest = ((owner.key, label(owner.name)),), owner.rest or child.name
                layout = f"{owner.platform}'s {form}"
                claim = Claim(owner.key, people, owner.platform, layout, child, rest, where, hint, trail, owner.late)
                self.claims.append(claim)
            elif exercise and not downloads:
                why = "it is called like an exercise: a whole download, or a student's entry with that name?"
                self.ask_one(child, where, key, why, f"{RENAME_IT}; if it is a download, {APART}")
            elif exercise:
                self.a_download(child, where, exercise)
            elif child.kind == "dir" and hint is None and self.is_called_like_a_layout(child):
                why = "it is called like the folder that holds a class, and lies beside students' entries"
                self.ask_one(child, where, key, why, f"{RENAME_IT}; if it holds the class, {APART}")
            elif child.kind == "dir" and child.name in submitters:
                people = tuple((id, label(name)) for id, name in submitters[child.name])
                if len({id for id, _ in people}) < len(people):
                    why = f"{METADATA} tells two people of it that have one id"
                    self.ask([(child, where)], [name for _, name in people], why, f"give each an id in {METADATA}")
                    continue
                layout = "Gradescope's export"
                self.claims.append(Claim(where, people, "Gradescope", layout, child, child.name, where, hint, trail))
            elif child.kind == "dir" or archives.is_archive(child.name):
                layout = "a folder a student" if child.kind == "dir" else "an archive a student"
                if child.kind == "dir" and names.GRADESCOPE.fullmatch(child.name):
                    layout = "Gradescope's export"
                people = ((key, label(key)),)
                self.claims.append(Claim(key, people, "", layout, child, child.name, where, hint, trail))
            elif is_code(child.name) and (hint or self.only or reading_of(child.name).exercise):
                self.ask_one(child, where, "", "whose is it? Its name says no student", NAME_IT)
            elif is_code(child.name):
                self.files += 1
                self.refuse("", where, "whose is it? Put it into a folder named after the student")
            else:
                self.leave("", child, STRAY)
                self.tell("", where, STRAY)

    def all_downloads(self, children: Sequence[Entry]) -> None:
        """A folder with nothing but downloads of Moodle or Canvas in it, as of several assignments or weeks."""
        for child in children:
            if why := hidden(child) or (LISTS if is_class_file(child) else STRAY if not is_container(child) else ""):
                self.leave("", child, why)
            else:
                self.a_download(child, child.name, names.exercise_of_download(archives.stem(child.name)))

    def a_download(self, child: Entry, where: str, exercise: str | None) -> None:
        """One download, of an exercise where its name says so: a folder or an archive with a class in it."""
        if child.kind == "dir":
            children, mark = self.attempt("", where, child.children), "/"
        else:
            opened = self.attempt("", where, lambda: child.opened(True))
            children, mark = opened and opened.children(), ":"
        self.a_class(children or (), where + mark, exercise)

    def ask_one(self, node: Entry, where: str, who: str, why: str, to_do: str) -> None:
        """List one entry as in need of a person. who: the name of the student that it could concern, or ""."""
        self.ask([(node, where)], [who] if who else (), why, to_do)

    def is_student_in_hiding(self, node: Entry) -> bool:
        """Whether a hidden entry looks like a student's."""
        if hidden(node) == FORKS or node.name.lower() in HIDDEN_TOOLS or node.kind not in ("dir", "file"):
            return False
        return self.recognizer.is_like_a_students(node)

    def is_called_like_a_layout(self, node: Entry) -> bool:
        """Whether a folder has the name of one that holds a class or its exercises, and such content."""
        return is_exercises(node) or (
            node.name == "submitted" and any(map(self.recognizer.is_like_a_students, inside(node)))
        )

    def submitters(self, children: Sequence[Entry]) -> dict[str, list[tuple[str, str]]]:
        """Gradescope's list of the people who handed in each folder; {} where there is none."""
        for child in children:
            if child.name == METADATA and child.kind == "file":
                return names.submitters(child.text())
        return {}

    # Who is who.

    def settle(self) -> None:
        """Walk the entries whose student is certain, and list the others as in need of a person."""
        self.clones = sorted({c.key for c in self.claims if not c.platform and is_clone(c.node)})
        self.shorter = student_ids.without_prefix(self.clones, self.root.name)
        ambiguous: set[str] = set()
        for conflict in claims.conflicts(self.claims, self.shorter, self.recognizer.holds_work):
            entries = [(claim.node, claim.where) for claim in conflict.claims if claim.where not in ambiguous]
            ambiguous.update(where for _, where in entries)
            if entries:
                self.ask(entries, conflict.who, conflict.why, NAME_THEM)
        downloads = any(claim.hint for claim in self.claims)
        for claim in self.claims:
            if claim.where in ambiguous:
                continue
            if claim.key not in self.people:
                self.people[claim.key] = claim.people
                self.layouts[claim.layout] += 1
            is_own = not claim.platform and not claim.node.member  # what lies in an archive is not read as a clone
            clone = claim.node.place if is_own and is_clone(claim.node) else ""
            (self.beside.add if downloads and not (claim.hint or claim.platform) else self.beside.discard)(claim.key)
            platform = claim.platform or NBGRADER * self.is_course
            self.origins[claim.key] = Origin(platform, claim.key, claim.node.name, claim.late, clone)
            self.entry(claim.key, claim.node, claim.rest, claim.where, claim.hint)
        self.claims.clear()


def _any_exercise(children: Sequence[Entry]) -> bool:
    return any(map(exercise_of_entry, children))
