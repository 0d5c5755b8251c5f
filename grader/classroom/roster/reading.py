"""Reads a roster: a platform's file or a plain list, or a folder with several.

Lists without grades: nbgrader imports students from the columns id, first_name, last_name, email, lms_user_id (nbgrader
db student import). Classroom 50 keeps username, first_name, last_name, email, section, github_id, role (roster.csv;
students.csv before).

Canvas' gradebook, by the rules in the source of canvas-lms:

- lib/gradebook_exporter.rb writes the titles Student (or LastName, FirstName), ID, SIS User ID, SIS Login ID, perhaps
  Integration ID and Root Account, Section, then the course's own columns, assignments as "title (number)", and totals.
  Up to two rows follow that are no students: "Manual Posting", and "    Points Possible". A name that begins with "="
  is written as ="name". A cell says "EX" for an excused student and "N/A" where the assignment is not the student's.
- lib/gradebook_importer.rb finds a student by ID, else by SIS User ID, SIS Login ID and name, and an assignment by the
  number in the title. It reads ";" too, and a decimal comma.
- An empty cell over an existing score is a change there (no_change_to_value?): the score is deleted. So a cell for
  which there are no points is never emptied here, it stays as it was.
"""

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from grader.catalog.errors import WrongUse
from grader.classroom.intake import names
from grader.classroom.intake.names import likeness
from grader.classroom.roster import matching, moodle, sheet
from grader.classroom.roster.sheet import Account, Listing, Person, Roster, Sheet, merge, without_id
from grader.records.sanitize import label

IDS = ("id", "student", "student_id", "student id", "sid", "username", "identifier", "github_username")
NAMES, FIRST, LAST = ("name", "full name", "full_name"), ("first_name", "first name"), ("last_name", "last name")
EMAILS = ("email", "e-mail", "email address", "email_address")
SIS_IDS = ("sis_id", "sis id", "sis user id", "lms_user_id", "id number")
LOGINS = ("login", "username", "github_username", "sis login id")
STUDENT = ("", "student")
TITLE = re.compile(r"(.*)\s\(\d+\)", re.S)  # Assignment.title_and_id
NO_STUDENT = re.compile(r"\s*(points possible|manual posting.*|muted)?\s*", re.I)
QUOTED_NAME = re.compile(r'="(.*)"', re.S)
UNTOUCHED = ("EX", "N/A")
TEST_STUDENT = "student, test"  # the course's StudentViewEnrollment, whose login is a hash and who has no SIS ID
KEPT = ("aliases.csv", "overrides.csv", "comments.csv", "handed_in.csv")  # ours, beside the roster
KINDS = "a Canvas gradebook, a Moodle grading worksheet or grade export, nbgrader's students, Classroom 50's roster"
MOST_FILES, MOST_NAMED = 200, 3  # files of a folder; students that a message names
PLATFORMS = {"canvas": "Canvas", "worksheet": "Moodle", "moodle": "Moodle", "plain": "a list"}  # by kind of listing


def is_plain_list(sheet: Sheet) -> bool:
    """Whether the file names students by a column of ids."""
    return sheet.column(*IDS) is not None


def people_of_list(sheet: Sheet, is_strict: bool = True) -> dict[int, Person]:
    """The students by row. Who has another role is left out. Raises WrongUse for a name without an id where strict."""
    by_row = {}
    for row in range(len(sheet.rows)):
        id, email = sheet.cell(row, sheet.column(*IDS)), sheet.cell(row, sheet.column(*EMAILS))
        both = (sheet.cell(row, sheet.column(*titles)) for titles in (FIRST, LAST))
        name = sheet.cell(row, sheet.column(*NAMES)) or " ".join(filter(None, both))
        if sheet.cell(row, sheet.column("role")).casefold() not in STUDENT or not (id or name or email):
            continue
        if not id and is_strict:
            raise WrongUse(without_id(sheet, row, name or email, sheet.titles[sheet.column(*IDS) or 0]))
        if not id:
            continue
        by_row[row] = Person(
            id,
            name,
            email,
            sheet.cell(row, sheet.column(*SIS_IDS)),
            sheet.cell(row, sheet.column(*LOGINS)),
            sheet.cell(row, sheet.column("section")),
            sheet.cell(row, sheet.column("group")),
        )
    return by_row


def is_gradebook(sheet: Sheet) -> bool:
    """Whether Canvas wrote this file."""
    first = list(sheet.titles[:3])
    return (first[:2] == ["Student", "ID"] or first == ["LastName", "FirstName", "ID"]) and "Section" in sheet.titles


def people_of_gradebook(sheet: Sheet) -> dict[int, Person]:
    """The students by row."""
    return {row: person for row in range(len(sheet.rows)) if (person := _person(sheet, row)) is not None}


def title_of(title: str) -> str:
    """An assignment's title without its number."""
    match = TITLE.fullmatch(title.strip())
    return match[1] if match else title.strip()


def possible_points(sheet: Sheet, column: int) -> str:
    """The cell of the row "Points Possible"; "" without such a row."""
    rows = (row for row in range(len(sheet.rows)) if "Points Possible" in sheet.cell(row, 0))
    return next((sheet.cell(row, column) for row in rows), "")


def read_roster(path: Path, titles: Mapping[str, str] | None = None) -> Roster:
    """The roster in a file, or in the .csv files of a folder. Raises WrongUse where it cannot be read.

    titles: what columns are called in English, by the title that they have there.
    """
    if path.is_dir():
        files = sorted(file for file in path.glob("*.csv") if file.name not in KEPT)[:MOST_FILES]
    elif path.is_file():
        files = [path]
    else:
        files = []
    if not files:
        raise WrongUse(f"There is no roster {label(str(path))}. Name a CSV file, or a folder of them: ROSTER=…")
    return join([listing(sheet.read_sheet(file), titles or {}) for file in files])


def listing(table: sheet.Sheet, titles: Mapping[str, str]) -> Listing:
    """The people of one file. titles: see `read`. Raises WrongUse where its columns are of no known kind."""
    named = {
        index: titles[own_title] for index, title in enumerate(table.header) if (own_title := title.strip()) in titles
    }
    table = replace(table, english=named)
    foreign = replace(table, english=moodle.foreign_titles(table) | named)
    platform_listing = _of_platform(table)
    if platform_listing is None and (guessed := _of_platform(foreign)) is not None:
        platform_listing = replace(guessed, is_guessed=True)
    if platform_listing is None and is_plain_list(table):
        is_classroom = None not in (table.column("identifier"), table.column("github_username"))
        platform_listing = Listing("plain", table, people_of_list(table, not is_classroom), is_classroom=is_classroom)
    if platform_listing is None:
        known_columns = ", ".join(map(label, table.header[:8]))
        first = label(next((title.strip() for title in table.header if title.strip()), "its title"))
        raise WrongUse(
            f"{label(str(table.path))} is no list of students: its columns are {known_columns}. Known are {KINDS}, "
            "and a file with the columns id, name (or first_name and last_name) and perhaps email, sis_id, login, "
            f"section, group. If your titles are others, say in course.toml what they are: [titles], and below it "
            f'"{first}" = "id", and so on'
        )
    if not platform_listing.people:
        raise WrongUse(f"{label(str(table.path))} names no student")
    return platform_listing


def join(listings: Sequence[Listing]) -> Roster:
    """One roster of several files. People are one where id, e-mail, SIS id or login say so, else by a unique full name.

    GitHub Classroom's list beside others adds accounts to their people: see `_with_accounts`. Raises WrongUse where a
    file names one student twice, a name alone stands for several people, or files of two platforms name different
    people.
    """
    beside = {number for number, listing in enumerate(listings) if listing.is_classroom}
    if len(beside) < len(listings) and beside:
        roster = join([listing for number, listing in enumerate(listings) if number not in beside])
        return _with_accounts(roster, [listings[number] for number in sorted(beside)])
    for number in beside:
        people_of_list(listings[number].sheet)  # here an account that is linked to nobody is a student without an id
    people: list[Person] = []
    places: dict[tuple[int, int], int] = {}  # (listing, row) → index in `people`
    for number, listing in enumerate(listings):
        _demand_unique(listing)
        known_people = _Known(people)
        for row, person in listing.people.items():
            index = known_people.find(person) if number else None
            if index is None:
                people.append(person)
                index = len(people) - 1
            else:
                people[index] = merge(people[index], person)
            places[number, row] = index
    _demand_same_people(listings, places, people)
    keys = [person.id for person in people]
    if twice := [key for key, count in Counter(keys).items() if count > 1]:
        raise WrongUse(
            f"The roster has several students {label(twice[0])}, and nothing that tells them apart. "
            "In Moodle: show the ID number or e-mail address (site administration, user policies), download again"
        )
    safe = names.ids(keys)
    people = [replace(person, id=safe[person.id], name=label(person.name)) for person in people]
    return Roster(tuple(people), tuple(listings), {place: people[index].id for place, index in places.items()})


def _with_accounts(roster: Roster, listings: Sequence[Listing]) -> Roster:
    """The roster with the accounts of GitHub Classroom's lists.

    An account is a person's whom its identifier names, which the instructor wrote: by id, e-mail address, SIS id or
    login, else by a full name that one person has. The name that people give themselves on GitHub joins nobody. Where
    nobody or several are meant, or two accounts mean one person, a person must say.
    """
    index = matching.Index(roster.people)
    accounts = [account for listing in listings for account in _accounts(listing, index)]
    wanted = Counter(account.fits for account in accounts)
    sure = {account.fits[0]: account.login for account in accounts if len(account.fits) == 1 == wanted[account.fits]}
    people = tuple(replace(one, accounts=(sure[one.id],)) if one.id in sure else one for one in roster.people)
    asked = tuple(account for account in accounts if account.login not in sure.values())
    return replace(roster, people=people, accounts=asked)


def _accounts(listing: Listing, index: matching.Index) -> Iterator[Account]:
    """The accounts of one of GitHub Classroom's lists. Who has not joined yet has none."""
    table = listing.sheet
    for row in range(len(table.rows)):
        login, identifier = (table.cell(row, table.column(title)) for title in ("github_username", "identifier"))
        if login:
            people = index.keys.get(identifier.casefold()) or index.named(identifier) if identifier else []
            name = identifier or table.cell(row, table.column(*NAMES))
            yield Account(login, name or login, tuple(dict.fromkeys(person.id for person in people)))


class _Known:
    """The people of earlier files, by what names one of them."""

    def __init__(self, people: Sequence[Person]) -> None:
        self.by_key: dict[str, set[int]] = defaultdict(set)
        self.by_name: dict[str, set[int]] = defaultdict(set)
        for index, person in enumerate(people):
            for key in person.keys:
                self.by_key[key.casefold()].add(index)
            self.by_name[likeness(person.name)].add(index)

    def find(self, person: Person) -> int | None:
        """The index of the person, or None where nobody or more than one is meant."""
        own_keys = [key for key in person.keys if key != person.name]
        indices = {index for key in own_keys for index in self.by_key.get(key.casefold(), ())}
        if not indices and person.id == person.name:  # the file tells nothing else
            indices = self.by_name.get(likeness(person.name), set())
        return next(iter(indices)) if len(indices) == 1 else None


def _person(sheet: Sheet, row: int) -> Person | None:
    """The student in this row, or None. Raises WrongUse for a name without an ID."""
    id, login = sheet.cell(row, sheet.column("ID")), sheet.cell(row, sheet.column("SIS Login ID"))
    sis_id = sheet.cell(row, sheet.column("SIS User ID"))
    first = sheet.column("FirstName")
    name = sheet.cell(row, 0) if first is None else f"{sheet.cell(row, 0)}, {sheet.cell(row, first)}"
    if quoted := QUOTED_NAME.fullmatch(name):
        name = quoted[1]
    if NO_STUDENT.fullmatch(name) or (name.casefold() == TEST_STUDENT and not sis_id and "@" not in login):
        return None
    if not id:
        raise WrongUse(without_id(sheet, row, name, "ID"))
    return Person(
        id,
        name,
        login if "@" in login else "",
        sis_id,
        login,
        sheet.cell(row, sheet.column("Section")),
        numbers=(id,),
    )


def _of_platform(table: sheet.Sheet) -> Listing | None:
    """The people of a file of Canvas or Moodle; None where it is neither's."""
    stem = names.exercise_of_download(table.path.stem)
    if is_gradebook(table):
        return Listing("canvas", table, people_of_gradebook(table))
    if moodle.is_worksheet(table):
        return Listing("worksheet", table, moodle.people_of_moodle(table), stem)
    if moodle.is_export(table):
        return Listing("moodle", table, moodle.people_of_moodle(table))
    return None


def _demand_same_people(
    listings: Sequence[Listing], places: Mapping[tuple[int, int], int], people: Sequence[Person]
) -> None:
    """Raise WrongUse where files of two platforms each name people whom the other does not."""
    named: dict[str, set[int]] = defaultdict(set)  # indices of people, by platform
    for (number, _), index in places.items():
        named[PLATFORMS[listings[number].kind]].add(index)
    for one, two in itertools.combinations(named, 2):
        alone = [people[index] for index in sorted(named[one] - named[two])], named[two] - named[one]
        if all(alone):
            files = {
                name: ", ".join(label(x.sheet.path.name) for x in listings if PLATFORMS[x.kind] == name)
                for name in (one, two)
            }
            some = ", ".join(label(person.name or person.id) for person in alone[0][:MOST_NAMED])
            raise WrongUse(
                f"{files[one]} and {files[two]} name different people: {len(alone[0]):,} of the first are not in the "
                f"second ({some}…), and {len(alone[1]):,} of the second are not in the first. Everybody would have two "
                "rows. Name one of the files: ROSTER=file. Or give both a column in common: email, login or sis_id"
            )


def _demand_unique(listing: Listing) -> None:
    """Raise WrongUse where a file names one student twice."""
    rows = Counter(person.id.casefold() for person in listing.people.values())
    twice = [id for id, count in rows.items() if count > 1]
    if twice and listing.kind != "worksheet":
        raise WrongUse(f"{label(str(listing.sheet.path))} names the student {label(twice[0])} in several rows")
