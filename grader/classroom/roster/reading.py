"""Reads a roster: one file, or a folder with several, such as Moodle's worksheets of several assignments."""

import itertools
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from grader.catalog.errors import WrongUse
from grader.classroom.intake import exercise_names, student_ids
from grader.classroom.intake.claims import likeness
from grader.classroom.roster import canvas_gradebook, moodle_files, moodle_foreign, plain_list, sheet
from grader.classroom.roster.people import Listing, Person, Roster, merged
from grader.records.sanitize import label

KEPT = ("aliases.csv", "overrides.csv", "comments.csv", "handed_in.csv")  # ours, beside the roster
KINDS = "a Canvas gradebook, a Moodle grading worksheet or grade export, nbgrader's students, Classroom 50's roster"
MOST_FILES, MOST_NAMED = 200, 3  # files of a folder; students that a message names
PLATFORMS = {"canvas": "Canvas", "worksheet": "Moodle", "moodle": "Moodle", "plain": "a list"}  # by kind of listing


def read(path: Path, titles: Mapping[str, str] | None = None) -> Roster:
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
    return joined([listing(sheet.read(file), titles or {}) for file in files])


def listing(table: sheet.Sheet, titles: Mapping[str, str]) -> Listing:
    """The people of one file. titles: see `read`. Raises WrongUse where its columns are of no known kind."""
    named = {
        index: titles[own_title] for index, title in enumerate(table.header) if (own_title := title.strip()) in titles
    }
    table = replace(table, english=named)
    foreign = replace(table, english=moodle_foreign.titles(table) | named)
    platform_listing = _of_platform(table)
    if platform_listing is None and (guessed := _of_platform(foreign)) is not None:
        platform_listing = replace(guessed, is_guessed=True)
    if platform_listing is None and plain_list.is_mine(table):
        platform_listing = Listing("plain", table, plain_list.people(table))
    if platform_listing is None:
        known_columns = ", ".join(map(label, table.header[:8]))
        first = label(next((title.strip() for title in table.header if title.strip()), "its title"))
        raise WrongUse(
            f"{label(str(table.path))} is no list of students: its columns are {known_columns}. Known are {KINDS}, "
            "and a file with the columns id, name and perhaps email, sis_id, login, section, group. "
            f'Other titles you say in course.toml: [titles], and below it "{first}" = "id", and so on'
        )
    if not platform_listing.people:
        raise WrongUse(f"{label(str(table.path))} names no student")
    return platform_listing


def _of_platform(table: sheet.Sheet) -> Listing | None:
    """The people of a file of Canvas or Moodle; None where it is neither's."""
    stem = exercise_names.exercise_of_download(table.path.stem)
    if canvas_gradebook.is_mine(table):
        return Listing("canvas", table, canvas_gradebook.people(table))
    if moodle_files.is_worksheet(table):
        return Listing("worksheet", table, moodle_files.people(table), stem)
    if moodle_files.is_export(table):
        return Listing("moodle", table, moodle_files.people(table))
    return None


def joined(listings: Sequence[Listing]) -> Roster:
    """One roster of several files. People are one where id, e-mail, SIS id or login say so, else by a unique full name.

    Raises WrongUse where a file names one student twice, a name alone stands for several people, or files of two
    platforms name different people.
    """
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
                people[index] = merged(people[index], person)
            places[number, row] = index
    _demand_same_people(listings, places, people)
    keys = [person.id for person in people]
    if twice := [key for key, count in Counter(keys).items() if count > 1]:
        raise WrongUse(
            f"The roster has several students {label(twice[0])}, and nothing that tells them apart. "
            "In Moodle: show the ID number or e-mail address (site administration, user policies), download again"
        )
    safe = student_ids.ids(keys)
    people = [replace(person, id=safe[person.id], name=label(person.name)) for person in people]
    return Roster(tuple(people), tuple(listings), {place: people[index].id for place, index in places.items()})


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
