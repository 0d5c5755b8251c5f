"""Finds the person of the roster to whom each hand-in belongs, by the rules of the platform that named the file.

Nobody is guessed: where no person or several are meant, a person settles it once, in aliases.csv.

The number in the name of a file belongs to the assignment, so one person has several. Without a roster only the full
name tells that they are one: it counts where each assignment has it at most once.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grader.catalog.errors import BadSubmission, NoSuchFile, WrongUse
from grader.classroom.grades import cell, csv_text
from grader.classroom.handins import Count, Found, HandIn, NeedsPerson, Origin, Passed, Student, Unplaced, listed
from grader.classroom.intake.collector import NOTHING_WRITTEN, OTHER_ATTEMPTS
from grader.classroom.intake.names import likeness
from grader.classroom.roster import sheet
from grader.classroom.roster.sheet import Person, Roster
from grader.classroom.untouched import is_begun
from grader.records.sanitize import label

MOODLE = "Moodle"
NO_WORD = re.compile(r"[^\w]")
NO_FILE = re.compile(r"[\x00-\x1f&<>\"`|':\\/]")  # what Moodle's clean_filename takes out of a full name
MOST_SIMILAR = 5  # people who are named
NOT_OURS = "-"  # in aliases.csv: who handed this in is no student of the class
CLASS_IN_IT = "; if it is a folder or an archive with the whole class in it, name it alone as SUBMISSIONS"
LEFT_OUT = "of people who are not in the class"
TO_DO = "write the student's id behind it in {}, or - if it is nobody of the class, and grade again"
OF_ITS_DOWNLOAD, SAME_FILE = "its download is named after the exercise", "the two are the same"  # why a file counts
OTHER_DOWNLOAD = "the other download is named after another exercise"
ALIASES = "aliases.csv"
ALIAS_TITLES = ("found", "name", "student", "could be")


def join_by_name(found: Found, past: Mapping[Student, Collection[str]]) -> tuple[Found, int]:
    """The hand-ins with one student for each full name, and how many numbers were joined to another one.

    past: as for joined_students.
    """
    joined_to = joined_students(found, past)
    chosen = choose(replace(handin, student=joined_to.get(handin.student, handin.student)) for handin in found.handins)
    unplaced = tuple(
        replace(past_student, student=joined_to.get(past_student.student, past_student.student))
        for past_student in found.unplaced
    )
    passed = tuple(
        replace(one, student=joined_to.get(one.student, one.student)) if one.student else one for one in found.passed
    )
    return chosen.within(replace(found, unplaced=unplaced, passed=passed)), len(joined_to)


def joined_students(found: Found, past: Mapping[Student, Collection[str]]) -> dict[Student, Student]:
    """The one student whom Moodle calls by several numbers, by each of the others, as full names tell.

    past: the students of earlier runs, with the exercises that they handed in; who is among them keeps that id.
    """
    exercises: dict[str, dict[Student, set[str]]] = defaultdict(lambda: defaultdict(set))  # by full name and student
    for handin in found.handins:
        if handin.origin.platform == MOODLE:
            # Of who hands in a whole folder each time, the exercise that the download is named after tells them apart.
            exercises[likeness(handin.student.name)][handin.student].add(handin.origin.subject or handin.exercise)
    for one in found.unplaced:
        if one.origin.platform == MOODLE and one.exercise:
            exercises[likeness(one.student.name)][one.student].add(one.origin.subject or one.exercise)
    earlier: dict[str, list[Student]] = defaultdict(list)
    for student in past:
        earlier[likeness(student.name)].append(student)
    joined_to: dict[Student, Student] = {}
    for name, by_student in exercises.items():
        before = [student for student in earlier[name] if student.id.isdigit()]
        exercises_by_student = dict(by_student) | {
            past_student: past[past_student] for past_student in before if past_student not in by_student
        }
        handed_in = [exercise for folders in exercises_by_student.values() for exercise in folders]
        if name and len(handed_in) == len(set(handed_in)) and len(before) <= 1:  # else two people have this name
            first = before[0] if before else min(by_student, key=lambda student: int(student.id))
            joined_to |= {student: first for student in by_student if student.id != first.id}
    return joined_to


@dataclass(frozen=True)
class Open:
    """A name that a person must settle. fits: the ids that it could mean; similar: those of similar names."""

    key: str
    name: str
    fits: tuple[str, ...] = ()
    similar: tuple[str, ...] = ()


@dataclass(frozen=True)
class Matched:
    """The hand-ins with the students of the roster, the names that are still open, and those that are not."""

    found: Found
    open: tuple[Open, ...] = ()
    understood: frozenset[str] = frozenset()


def match(found: Found, roster: Roster, aliases: Mapping[str, str], aliases_file: str = "aliases.csv") -> Matched:
    """Give each hand-in to its person of the roster. aliases: what a person settled, see aliases.read."""
    index = Index(roster.people)
    by_id = roster.by_id
    handins: list[HandIn] = []
    unsure: dict[tuple[str, str, str], list[HandIn]] = defaultdict(list)
    fits_of: dict[tuple[str, str, str], tuple[str, ...]] = {}
    elsewhere: list[HandIn] = []
    unplaced: list[Unplaced] = []
    understood: set[str] = set()
    without_files: set[tuple[str, str, str]] = set()  # names of entries of which nothing could be placed

    def who(student: Student, origin: Origin) -> Person | tuple[str, ...] | None:
        """The person; None where it is nobody of the class; a tuple of ids where a person must say."""
        for key in (origin.key, student.id, student.name):
            if alias := aliases.get(key):
                return None if alias == NOT_OURS else by_id.get(alias, ())
        fits = index.find(student, origin)
        return fits[0] if len(fits) == 1 else tuple(person.id for person in fits)

    for handin in found.handins:
        person = who(handin.student, handin.origin)
        if person is None:
            elsewhere.append(handin)
        elif isinstance(person, tuple):
            key = handin.origin.platform, handin.origin.key or handin.student.id, handin.student.name
            unsure[key].append(handin)
            fits_of[key] = person
        else:
            handins.append(replace(handin, student=person.student))
            understood |= {handin.origin.key, handin.student.id}
    for left_over in found.unplaced:
        person = who(left_over.student, left_over.origin)
        if isinstance(person, Person):
            unplaced.append(replace(left_over, student=person.student))
            understood |= {left_over.origin.key, left_over.student.id}
        elif isinstance(person, tuple):
            key = left_over.origin.platform, left_over.origin.key or left_over.student.id, left_over.student.name
            unsure[key] += []
            fits_of[key] = person
            without_files.add(key)
    chosen = choose(handins)
    passed = [_passed(one, who(one.student, one.origin)) for one in found.passed if one.student]
    passed += [one for one in found.passed if not one.student]
    passed += [Passed(handin.shown, LEFT_OUT, student=handin.student) for handin in _one_each(elsewhere)]
    placed = {(handin.student, exercise) for handin in chosen.handins for exercise in ("", handin.exercise)}
    asked = {account.login.casefold(): account for account in roster.accounts if aliases.get(account.login) is None}
    open_names = {}
    for key in unsure:
        account = next((asked[word.casefold()] for word in key[1:] if word.casefold() in asked), None)
        if account is None:
            open_names[key] = Open(*key[1:], fits_of[key], index.similar(key[2]))
        else:  # by the account, so that one answer holds for the clones of every week
            fits = account.fits or fits_of[key]
            open_names[key] = Open(account.login, account.name, fits, index.similar(account.name))
    handed_in = {one.key for one in open_names.values()}
    for account in asked.values():  # those too of whom nothing came yet, so that a person is asked once
        if account.login in handed_in:
            continue
        key = "", account.login, account.name
        open_names[key], unsure[key] = Open(account.login, account.name, account.fits, index.similar(account.name)), []
    needing = [
        _unknown(open_names[key], files, aliases_file, key in without_files and not files)
        for key, files in unsure.items()
    ]
    files_in_question = len(_files(handin for files in unsure.values() for handin in files))
    settled = chosen.within(
        replace(
            found,
            unplaced=tuple(one for one in unplaced if one.lacks or (one.student, one.exercise) not in placed),
            needs_person=(*found.needs_person, *needing),
            enrolled=tuple(person.student for person in roster.people),
            passed=tuple(passed),
            count=_count(found.count, files_in_question, len(_files(elsewhere))),
        )
    )
    return Matched(settled, tuple(dict.fromkeys(open_names.values())), frozenset(understood))


class Index:
    """The people of a roster, by all that may name one of them."""

    def __init__(self, people: Iterable[Person]) -> None:
        self.numbers: dict[str, list[Person]] = defaultdict(list)
        self.keys: dict[str, list[Person]] = defaultdict(list)
        self.exact: dict[str, list[Person]] = defaultdict(list)
        self.names: dict[str, list[Person]] = defaultdict(list)
        self.short_names: dict[str, list[Person]] = defaultdict(list)
        self.words: dict[str, list[Person]] = defaultdict(list)
        for person in people:
            for number in person.numbers:
                self.numbers[number].append(person)
            for key in {key.casefold() for key in person.keys}:
                self.keys[key].append(person)
            self.exact[plain(person.name)].append(person)
            for name in {plain(form) for form in spoken(person.name)}:
                self.names[name].append(person)
            for name in {squeeze(form) for form in spoken(person.name)}:
                self.short_names[name].append(person)
            for word in words(person.name):
                self.words[word].append(person)

    def find(self, student: Student, origin: Origin) -> list[Person]:
        """The people whom the name of an entry could mean."""
        if origin.platform == "Moodle":  # the number is the assignment's own, else the full name tells
            return self.numbers.get(origin.key) or self.named(student.name)
        if origin.platform == "Canvas":  # the number is the user's, else the name that Canvas squeezed
            return self.numbers.get(origin.key) or self.short_names.get(squeeze(student.name), [])
        keys = (self.keys.get(key.casefold()) for key in (origin.key, student.id))
        return next(filter(None, keys), None) or self.named(student.name)

    def named(self, name: str) -> list[Person]:
        """The people with this name, else those who have it in another order."""
        last, comma, first = name.partition(",")
        return self.exact.get(plain(name)) or self.names.get(plain(f"{first} {last}" if comma else name), [])

    def similar(self, name: str) -> tuple[str, ...]:
        """The ids of a few people who share a word of this name, to be named to a person; none of them is taken."""
        shared = Counter(person.id for word in words(name) for person in self.words.get(word, ()))
        return tuple(id for id, _ in shared.most_common(MOST_SIMILAR))


def plain(name: str) -> str:
    """A full name as it is compared: without what Moodle leaves out of a file's name, underscores as spaces."""
    return likeness(NO_FILE.sub("", name).replace("_", " "))


def words(name: str) -> set[str]:
    """The words of a name that are more than an initial."""
    return {word for word in re.findall(r"\w+", likeness(name.replace("_", " "))) if len(word) > 1}


def squeeze(name: str) -> str:
    """A full name as Canvas writes it into a file's name: letters, digits and underscores, in lower case."""
    return NO_WORD.sub("", unicodedata.normalize("NFC", name)).lower()


def spoken(name: str) -> tuple[str, ...]:
    """A name in each order: "Lovelace, Ada", "Ada Lovelace" and "Lovelace Ada"."""
    last, comma, first = name.partition(",")
    if comma:
        return name, f"{first.strip()} {last.strip()}", f"{last.strip()} {first.strip()}"
    name_words = name.split()
    return (name, *(" ".join(name_words[cut:] + name_words[:cut]) for cut in range(1, min(len(name_words), 5))))


class Aliases(dict[str, str]):
    """The meaning of each name found in an archive: a student's id, or NOT_OURS."""

    def get(self, key: str, default: str | None = None) -> str | None:  # type: ignore[override]
        """The meaning of a name. The file holds names as safe cells."""
        return super().get(cell(key), default)


def read_aliases(path: Path, roster: Roster) -> Aliases:
    """The settled names. Raises WrongUse where the file has other columns, or names a student whom nobody knows."""
    settled = Aliases()
    if not path.exists():
        return settled
    table = sheet.read_sheet(path)
    if table.column("found") is None or table.column("student") is None:
        raise WrongUse(f"{label(str(path))} needs the columns found and student")
    ids = {person.id for person in roster.people}
    for line, (name, id) in enumerate(table.cells("found", "student"), 2):
        if id and id not in ids and id != NOT_OURS:
            raise WrongUse(f"{label(str(path))}, line {line}: nobody on the roster has the id {label(id)}")
        if id:
            settled[name] = id
    return settled


def unsettled(path: Path, result: Matched) -> list[NeedsPerson]:
    """The names of earlier downloads for which aliases.csv still has no student. result: of this download.

    A name that is understood now, by a better roster, waits no longer.
    """
    if not path.exists():
        return []
    now = {cell(name) for name in (*(one.key for one in result.open), *result.understood)}
    why = "it was in an earlier download, and nobody has said whose it is"
    to_do = TO_DO.format(path).replace(", grade again", ", and grade that download again")
    return [
        NeedsPerson((), (label(name),), why, to_do, 0)
        for name, student in sheet.read_sheet(path).cells("found", "student")
        if name and not student and name not in now
    ]


def add_aliases(path: Path, open_names: Iterable[Open]) -> int:
    """Add names that wait for a person, each with an empty cell for the student. Returns how many are new.

    Raises WrongUse where the file cannot be written.
    """
    table = sheet.read_sheet(path) if path.exists() else None
    old = {name for (name,) in table.cells("found")} if table else set()
    new = [name for name in open_names if cell(name.key) not in old]
    if not new:
        return 0
    rows: list[Sequence[str]] = [ALIAS_TITLES] if table is None else []
    rows += [[cell(one.key), cell(one.name), "", cell(" ".join(one.fits or one.similar))] for one in new]
    is_open = table is not None and not path.read_bytes().endswith(b"\n")  # its last line has no end
    try:
        with path.open("a", encoding="utf-8", newline="") as file:
            file.write("\n" * is_open + csv_text(rows))
    except OSError as error:
        raise WrongUse(f"{label(str(path))} cannot be written: {error.strerror}") from None
    return len(new)


@dataclass(frozen=True)
class Chosen:
    """The hand-in that counts for each student and exercise.

    others: what a student handed in besides, each with the one that counts and why; rivals: the files of a student for
    one exercise, where nobody knows which counts.
    """

    handins: tuple[HandIn, ...]
    others: tuple[tuple[HandIn, HandIn, str], ...] = ()
    rivals: tuple[tuple[HandIn, ...], ...] = ()

    def within(self, found: Found) -> Found:
        """The class with these hand-ins. found: the same class, with all else as it should be.

        A student whose files are rivals lacks the exercise until a person decides, so that the row says so, and the
        next runs know it.
        """
        # A group hands in one file, which may count for one of them alone.
        counted = _files(self.handins)
        besides, unsure = [], []
        for handin, better, why in self.others:
            if (own := (handin.place, handin.member)) not in counted:
                counted.add(own)
                besides.append(_besides(handin, better, why))
        for rivals in self.rivals:
            for handin in rivals:
                if (own := (handin.place, handin.member)) not in counted:
                    counted.add(own)
                    unsure.append(
                        Passed(
                            handin.shown, _rivalry(rivals), handin.origin.key, handin.student, True, 1, handin.origin
                        )
                    )
        unplaced = (Unplaced(files[0].student, _rivalry(files), exercise=files[0].exercise) for files in self.rivals)
        left_out = dict(found.count.left_out)
        if besides:
            left_out[OTHER_ATTEMPTS] = left_out.get(OTHER_ATTEMPTS, 0) + len(besides)
        count = replace(
            found.count,
            to_grade=found.count.to_grade - len(besides) - len(unsure),
            refused=found.count.refused + len(unsure),
            left_out=left_out,
        )
        passed = tuple(sorted((*found.passed, *besides, *unsure), key=lambda one: one.where))
        unplaced_now = (*found.unplaced, *unplaced)
        return replace(found, handins=self.handins, unplaced=unplaced_now, passed=passed, count=count)


def choose(handins: Iterable[HandIn]) -> Chosen:
    """The hand-in that counts, where a student has several for one exercise.

    That is usual: who hands in a whole folder for each of Moodle's assignments hands in the earlier exercises again.
    A file in which something is written goes before a stub, then the download that is named after the exercise before
    one that names none, and that before one of another exercise.
    """
    groups: dict[tuple[str, str], list[HandIn]] = defaultdict(list)
    for handin in handins:
        groups[handin.student.id, handin.exercise].append(handin)
    chosen, others, rivals = [], [], []
    for _, group in sorted(groups.items()):
        best, why = _best(group) if len(group) > 1 else (group[0], "")
        if best is None:
            rivals.append(tuple(group))
            continue
        chosen.append(best)
        others += [(handin, best, why) for handin in group if handin is not best]
    return Chosen(tuple(chosen), tuple(others), tuple(rivals))


def _best(group: Sequence[HandIn]) -> tuple[HandIn | None, str]:
    """The one of several files of a student for one exercise that counts, and why; None where a person must say."""
    begun = [handin for handin in group if is_begun(handin)] or list(group)
    ranks = [_rank(handin) for handin in begun]
    nearest = [handin for handin, rank in zip(begun, ranks, strict=True) if rank == min(ranks)]
    if len(nearest) > 1 and len(set(map(_content, nearest))) > 1:
        return None, ""
    if len(begun) == 1:
        return nearest[0], NOTHING_WRITTEN
    if len(nearest) > 1:
        return nearest[0], SAME_FILE
    return nearest[0], OTHER_DOWNLOAD if min(ranks) else OF_ITS_DOWNLOAD


def _rank(handin: HandIn) -> int:
    """How near the download of a file is to its exercise, as its name says; smaller is nearer."""
    subject = handin.origin.subject
    return 0 if subject == handin.exercise else 2 if subject else 1


def _content(handin: HandIn) -> str:
    """What is in a file, to be compared; of one that cannot be read, its place."""
    try:
        return handin.read().digest
    except (BadSubmission, NoSuchFile, OSError):
        return handin.shown


def _besides(handin: HandIn, better: HandIn, why: str) -> Passed:
    reason = f"for {handin.exercise} the file {better.shown} counts: {why}"
    return Passed(handin.shown, reason, handin.origin.key, handin.student, origin=handin.origin)


def _rivalry(rivals: Sequence[HandIn]) -> str:
    """Why nobody knows which of these files counts, and what to do."""
    where = sorted({label(handin.origin.name or handin.shown) for handin in rivals})
    return f"it was handed in {len(rivals)} times: leave the one that counts in the downloads ({listed(where, 4)})"


def _unknown(name: Open, handins: list[HandIn], aliases_file: str, may_be_class: bool) -> NeedsPerson:
    """A name that means nobody on the roster, or several people. may_be_class: nothing in the entry could be placed."""
    entry = label(f"{name.name} ({name.key})" if name.key != name.name else name.key)
    reason = f"{entry} could be {', '.join(name.fits)}" if name.fits else f"nobody on the roster is called {entry}"
    reason += f". Similar names: {', '.join(map(label, name.similar))}" if name.similar and not name.fits else ""
    where = tuple(sorted({label(handin.origin.name or handin.shown) for handin in handins})) or (entry,)
    to_do = TO_DO.format(aliases_file) + CLASS_IN_IT * may_be_class
    return NeedsPerson((entry,), where, reason, to_do, len(_files(handins)))


def _passed(one: Passed, person: Person | tuple[str, ...] | None) -> Passed:
    """Files that are not graded, under the student of the roster."""
    return replace(one, student=person.student) if isinstance(person, Person) else one


def _one_each(handins: Iterable[HandIn]) -> Iterable[HandIn]:
    """One hand-in for each file, which a group may have handed in."""
    return {(handin.place, handin.member): handin for handin in handins}.values()


def _files(handins: Iterable[HandIn]) -> set[tuple[str, str]]:
    return {(handin.place, handin.member) for handin in handins}


def _count(count: Count, in_question: int, elsewhere: int) -> Count:
    """The count with some files moved from those to grade to those that need a person, or are left out."""
    left_out = dict(count.left_out) | ({LEFT_OUT: elsewhere} if elsewhere else {})
    to_grade = count.to_grade - in_question - elsewhere
    return replace(count, to_grade=to_grade, needs_person=count.needs_person + in_question, left_out=left_out)
