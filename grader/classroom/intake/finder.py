"""Finds the submissions of a class: whose each file is, and to which exercise it belongs. It goes by names.

What a file holds is read only to say which exercise it may be for if its name says none, and of several files for one
exercise whether something is written in them. docs/classroom.md lists the layouts that it understands, also mixed,
nested, or in one zip as it was downloaded. If a name is ambiguous, a person decides (names.csv).
"""

import difflib
import os
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grader.catalog import Exercise
from grader.catalog.errors import WrongUse
from grader.classroom.intake import archives, entries, names
from grader.classroom.intake.archives import Node
from grader.classroom.intake.collector import Collector, Item, attempt
from grader.classroom.intake.entries import METADATA, hidden, is_class_file, is_clone, is_container
from grader.classroom.intake.names import GRADESCOPE, Owner, likeness, owner_of, possible_owners, student_of_file
from grader.classroom.marks import PERSON, Found, HandIn, Mark, Origin, Student, left_out
from grader.classroom.students import Decisions
from grader.records.sanitize import label

CLASS_FILE, BESIDE = "a platform's or course's own", "beside the submissions"  # why a file is left out
ONLINE = "typed online in Moodle ({}), and not a file"
OF_COURSE = (".csv", ".txt", ".md", ".html", ".pdf", ".yml", ".yaml", ".json", ".log", ".db", ".toml")
SAY = 'write into names.csv: "{}",STUDENT'
FEW, SEVERAL = 2, 3  # folders with the same exercise that may be a class's: in the only entry, and in one of several
SEVERAL_STUDENTS = "several folders in it hold the same exercise: is each a student's?"
FILES = "a file a student"
CORRECT = "write its place into names.csv as marks.csv has it, or take the line out"
RENAME = "rename it, or move it out of the download"


@dataclass(frozen=True, slots=True)
class Claim:
    """One entry of a class that names a student, or a group. Its item has the name that the student gave.

    people: id and name of each student; container: the download that holds it; layout: in words; platform: who made the
    name, "" for a folder's or an archive's own; is_sure: names.csv says it.
    """

    item: Item
    people: tuple[tuple[str, str], ...]
    container: str
    layout: str
    platform: str = ""
    is_sure: bool = False

    @property
    def key(self) -> str:
        """What identifies the student's files."""
        return self.item.where if len(self.people) > 1 else self.people[0][0]


def find(folder: Path, exercises: Sequence[Exercise], decisions: Decisions | None = None) -> Found:
    """The submissions for these exercises in a folder, or in an archive. Raises WrongUse if it cannot be read.

    decisions: what names.csv says, by place.
    """
    root = entries.root_folder(folder)
    decisions = decisions or Decisions({})
    finder = Finder(exercises, decisions)
    if root.kind == "file" and not archives.is_archive(root.name):
        if not folder.exists():
            raise WrongUse(no_folder(folder))
        raise WrongUse(f"{folder} is no folder. To grade single files: make grade EX=03 FILES={folder}")
    _, reason = attempt(lambda: finder.start(root.open(download=True) if root.kind == "file" else root, folder.name))
    if reason:
        raise WrongUse(f"{folder} cannot be read: {reason}")
    for place in sorted(decisions.unused):
        finder.ask(place, "names.csv names it, and no student's entry or file is there", CORRECT)
    return finder.result()


def find_one(folder: Path, exercises: Sequence[Exercise]) -> Found:
    """The submissions in a folder that certainly is one student's, as a platform lays it out. Raises WrongUse."""
    root = entries.root_folder(folder)
    if root.kind != "dir":
        raise WrongUse(f"There is no folder {folder}.")
    finder = Finder(exercises, Decisions({}))
    finder.walk_one_student(root)
    return finder.result()


def no_folder(folder: Path) -> str:
    """The sentence on a folder that is not there, with the nearest name beside it."""
    beside = os.listdir(folder.parent) if folder.parent.is_dir() else []
    close = difflib.get_close_matches(folder.name, [name for name in beside if not name.startswith(".")], n=1)
    return f"There is no folder {folder}." + (f" Did you mean {folder.parent / close[0]}?" if close else "")


class Finder:
    """Assigns the entries of a class to students, whose collectors assign their files to exercises."""

    def __init__(self, exercises: Sequence[Exercise], decisions: Decisions) -> None:
        self.exercises, self.decisions = exercises, decisions
        self.only = exercises[0].folder if len(exercises) == 1 else None
        self.claims: list[Claim] = []
        self.layouts: Counter[str] = Counter()
        self.collectors: dict[str, Collector] = {}  # by the key of a claim
        self.others: list[Mark] = []  # of entries of no certain student
        self.shorter: dict[str, str] = {}  # ids without the prefix of clones

    def start(self, root: Node, name: str) -> None:
        """Find the folder that holds the students, and walk it. name: of what the instructor named."""
        course, trail = False, ""
        children = root.children()
        for _ in range(4):
            visible = [child for child in children if not hidden(child)]
            submitted = next((child for child in visible if child.name == "submitted" and child.kind == "dir"), None)
            if submitted and entries.is_course(visible, submitted, self.only):
                inner, course = submitted, True
                self.layouts["nbgrader's folder submitted/"] += 1
            elif entries.is_one_students(children, self.only):
                return self.walk_one_student(root, trail)
            elif len(visible) == 1 and entries.is_wrapper(visible[0], self.only):
                inner = visible[0]
            else:
                break
            for child in children:
                if child is not inner:
                    self.leave_out(trail + child.name, hidden(child) or BESIDE)
            root, name, children, trail = inner, inner.name, inner.children(), f"{trail}{inner.name}/"
            if course:
                break
        hint = None if course else names.exercise_of_download(archives.stem(name))
        self.walk_class(children, trail, hint, "nbgrader" * course)
        self.settle_claims(root.name)

    def walk_one_student(self, root: Node, trail: str = "") -> None:
        self.layouts["one student's folder"] += 1
        collector = self.collectors[root.name] = Collector(
            self.exercises, self.decisions, ((root.name, label(root.name)),)
        )
        collector.origin = Origin(key=root.name)
        collector.walk_folder(Item(root, "", trail, names.exercise_of_folder(root.name)))

    def leave_out(self, where: str, reason: str) -> None:
        """Note an entry that is no student's and needs no person."""
        self.others.append(left_out(where, reason))

    def ask(self, where: str, reason: str, to_do: str) -> None:
        self.others.append(Mark(PERSON, None, "", label(where), reason, to_do))

    def walk_class(self, children: Sequence[Node], trail: str, hint: str | None, platform: str = "") -> None:
        """Treat each entry as a student's. hint: the exercise whose download this is."""
        are_downloads = entries.are_downloads(children)
        has_students = entries.has_students(children, self.only)
        metadata = next((child for child in children if child.name == METADATA and child.kind == "file"), None)
        submitters = names.submitters_of(attempt(metadata.text)[0] or "") if metadata else {}
        for child in children:
            item = Item(child, child.name, trail + child.name, hint)
            where, exercise = item.where, entries.exercise_of_entry(child)
            say = SAY.format(label(where))
            if decision := self.decisions.of(label(where)):
                item = replace(item, hint=decision.exercise or hint)
                self.claims.append(Claim(item, ((decision.student, ""),), trail, "as names.csv says", is_sure=True))
            elif reason := hidden(child) or CLASS_FILE * is_class_file(child):
                self.leave_out(where, reason)
            elif child.kind not in ("dir", "file"):
                self.ask(where, entries.REFUSED[child.kind], RENAME)
            elif (owner := owner_of(child.name)) and (child.kind == "file" or owner.platform == "Moodle"):
                self.claim_for_owner(item, trail, owner)
            elif child.name in submitters and child.kind == "dir":
                group = tuple((id, label(name)) for id, name in submitters[child.name])
                if len({id for id, _ in group}) == len(group):
                    self.claims.append(Claim(item, group, trail, "Gradescope's export", "Gradescope"))
                else:
                    self.ask(where, f"{METADATA} has two people with one id", f"give each an id in {METADATA}")
            elif is_container(child) and (
                are_downloads or (exercise and not hint and not has_students and entries.holds_class(child))
            ):
                self.walk_download(child, where, exercise or hint)
            elif exercise and not hint:
                question = "it is called like an exercise: a whole download, or a student's entry with that name?"
                self.ask(where, question, f"{say}; a download: grade it alone")
            elif is_container(child):
                layout = "an archive a student" if child.kind == "file" else "a folder a student"
                layout = "Gradescope's export" if GRADESCOPE.fullmatch(child.name) else layout
                key = archives.stem(child.name) if child.kind == "file" else child.name
                self.claims.append(Claim(item, ((key, label(key)),), trail, layout, platform))
            elif student := student_of_file(child.name):
                self.claims.append(Claim(item, ((student, label(student)),), trail, FILES))
            elif child.name.lower().endswith(OF_COURSE):
                self.leave_out(where, "neither a student's folder nor an archive")
            else:
                self.ask(where, "whose is it? It lies in no student's folder", say)

    def walk_download(self, child: Node, where: str, exercise: str | None) -> None:
        """Walk one download: a folder or an archive with a class in it."""
        children, reason = attempt(lambda: entries.of(child))
        if children is None:
            self.ask(where, reason, RENAME)
        else:
            self.walk_class(children, where + ("/" if child.kind == "dir" else ":"), exercise)

    def claim_for_owner(self, item: Item, trail: str, owner: Owner) -> None:
        """Claim an entry that Moodle or Canvas named, unless its name could mean several students."""
        possible = possible_owners(item.name)
        if len(possible) > 1:
            question = f"its name holds several numbers that could be the student's: {', '.join(possible)}"
            self.ask(item.where, question, SAY.format(label(item.where)))
        elif owner.kind != "file":
            self.leave_out(item.where, ONLINE.format(label(owner.kind)))
        else:
            layout = f"{owner.platform}'s {'folders' if item.node.kind == 'dir' else 'files'}"
            people, item = ((owner.key, label(owner.name)),), replace(item, name=owner.rest or item.name)
            self.claims.append(Claim(item, people, trail, layout, owner.platform))

    def settle_claims(self, folder: str) -> None:
        """Walk the entries whose student is certain, and list the others. folder: the name of the class's folder."""
        own = [claim for claim in self.claims if not claim.platform and not claim.item.node.member]
        clones = sorted({claim.key for claim in own if is_clone(claim.item.node)})
        self.shorter = names.without_prefix(clones, folder)
        doubts = dict(self._conflicts())
        for claim in self.claims:
            key, item = claim.key, claim.item
            if reason := doubts.get(item.where):
                self.ask(item.where, reason, SAY.format(label(item.where)))
                continue
            if key not in self.collectors:
                self.collectors[key] = Collector(self.exercises, self.decisions, claim.people)
                self.layouts["clones of this repository" if key in clones else claim.layout] += 1
            self.collectors[key].origin = Origin(claim.platform, claim.people[0][0], item.node.name)
            self.collectors[key].walk(item)

    def result(self) -> Found:
        self._ask_about_classes()
        called, placed = {}, set()
        for one in self.collectors.values():
            one.settle()
            for id, name in one.people:
                called[self._id(id)] = name
                placed |= {self._id(id)} if one.chosen else set()
        safe = names.ids(called) | names.ids(placed)  # who handed in nothing takes nobody's id
        students = {
            id: Student(safe[id], label(name) if self.shorter.get(name, name) == name else safe[id])
            for id, name in called.items()
        }
        handed_in = {folder for one in self.collectors.values() for folder in one.chosen}
        handins: list[HandIn] = []
        for one in self.collectors.values():
            people = [students[self._id(id)] for id, _ in one.people]
            handins += one.handins(people)
            self.others += [*one.misplaced(people, handed_in), *one.left_out(people[0])]
        layout = ", ".join(f"{name} ({count})" if count > 1 else name for name, count in self.layouts.most_common())
        return Found(
            layout or "nothing that looks like a class",
            tuple(sorted(handins, key=lambda one: (one.student, one.exercise))),
            tuple(sorted(self.others, key=lambda one: (one.file, one.student or Student("")))),
            tuple(students[self._id(id)] for one in self.collectors.values() for id, _ in one.people),
        )

    def _id(self, id: str) -> str:
        return self.shorter.get(id, id)

    def _ask_about_classes(self) -> None:
        """Ask a person about entries in which several folders hold the same exercise: perhaps each is a student's."""
        least = FEW if len(self.collectors) == 1 else SEVERAL
        for key, one in list(self.collectors.items()):
            if one.origin.name and one.branches() >= least:  # without a name it is the folder of one student
                to_do = "if it holds a class, unpack it and grade it alone; else leave one file of each exercise in it"
                self.ask(one.origin.name, SEVERAL_STUDENTS, to_do)
                self.others += [left_out(*each) for each in one.passed]
                del self.collectors[key]

    def _conflicts(self) -> Iterator[tuple[str, str]]:
        """The places of entries whose student is not certain, with the reason."""
        groups: defaultdict[str, list[tuple[Claim, str, str]]] = defaultdict(list)
        for claim in self.claims:
            for id, name in claim.people if not claim.is_sure else ():
                groups[likeness(self._id(id))].append((claim, id, name))
        for group in groups.values():
            if self._conflict(group):
                group = [one for one in group if self._holds_work(one[0])]  # an empty folder is no rival
                if reason := self._conflict(group):
                    yield from ((claim.item.where, reason) for claim, _, _ in group)

    def _conflict(self, group: list[tuple[Claim, str, str]]) -> str:
        """Why claims with confusable names may be of several students; "" if they are one student's."""
        if len(group) < 2:
            return ""
        platforms = {claim.platform for claim, _, _ in group}
        ids = sorted({self._id(id) for _, id, _ in group})
        called = sorted({name for _, _, name in group})
        if len(platforms) > 1:
            places = sorted(f"{label(c.item.where)} ({c.platform or 'a name of its own'})" for c, _, _ in group)
            return f"one name, two origins: {', '.join(dict.fromkeys(places))}"
        if len(ids) > 1:
            return f"names that could be one and the same: {', '.join(map(_quote, ids))}"
        if platforms <= {"Moodle", "Canvas"} and len(set(map(likeness, called))) > 1:
            return f"the number {label(ids[0])} is beside different names: {', '.join(map(_quote, called))}"
        if not platforms <= {"Moodle", "Canvas"}:
            containers = Counter(claim.container for claim in {c.item.where: c for c, _, _ in group}.values())
            is_file = all(claim.layout == FILES for claim, _, _ in group)
            if max(containers.values()) > 1 and not is_file:
                return f"several entries are named after {_quote(ids[0])}"
        return ""

    def _holds_work(self, claim: Claim) -> bool:
        """True if anything in the claimed entry could be graded."""
        node: Node | None = claim.item.node
        if claim.item.node.kind == "file" and archives.is_archive(claim.item.name):
            node, _ = attempt(claim.item.node.open)
        return node is not None and (node.kind == "file" or entries.holds_code(node, self.only))


def _quote(name: str) -> str:
    """A name in a form that shows invisible differences."""
    return label(name) if name.isascii() and name == name.strip(" .") else ascii(name)
