"""Removes one person from a folder of results and from the instructor's tables beside course.toml."""

import json
import shutil
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from grader.catalog.errors import WrongUse
from grader.classroom import arrivals, grades, handback, history, marking, outputs, private
from grader.classroom.grades import cell
from grader.classroom.handins import count_in_words
from grader.classroom.history import History
from grader.classroom.office import Office
from grader.classroom.office_page import by_hand
from grader.classroom.outputs import GRADES, LEFT, PAGE
from grader.classroom.pages.class_page import ROWS
from grader.classroom.roster import filling, matching, sheet
from grader.classroom.roster.sheet import Sheet
from grader.classroom.store import Store
from grader.records import safe_files
from grader.records.sanitize import label

ATTEMPTS = ".attempts"  # of an nbgrader course: the notebooks of earlier attempts
# Columns that name a student, in grades.csv of any form and in the tables that a person writes.
NAMING = ("student", "ID", "SIS User ID", "SIS Login ID", "Identifier")
COULD_BE = "could be"
# Files about the whole class. They are made again without the person.
OF_THE_CLASS = {
    PAGE: "make grade",
    ROWS: "make grade",
    outputs.LEDGER: "make grade",
    filling.FOLDER: "make grade",
    handback.FOLDER: "make handback",
}


def forget(out: Path, student: str, office: Office) -> Iterator[str]:
    """Remove a student. Yields a line for each thing that was removed, and for each that a person must remove.

    Raises WrongUse where the results know no such student, or something cannot be removed.
    """
    file = Store.existing(out)
    try:
        History(file)  # its tables are there then
        tables = [
            out / GRADES,
            *sorted((out / private.VERSIONS).glob("*.csv")),
            out / history.CHANGES,
            out / grades.PSEUDONYMS,
        ]
        if office.folder is not None:
            names = (marking.OVERRIDES, marking.COMMENTS, arrivals.HANDED_IN, matching.ALIASES, by_hand.LOG)
            tables += [office.folder / name for name in names]
        own_folders = list(_folders(out, student, office))
        _demand_known(file, student, own_folders, tables)
        removed = [*_from_store(file.file, student)]
        yield f"{file.path}: {', '.join(removed)}" if removed else f"{file.path}: nothing was there"
        for path in own_folders:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
            yield f"{path}: removed"
        for path in tables:
            count = _from_table(path, student)
            if count:
                yield f"{path}: {count_in_words(count, 'line')}"
        for name, verb in OF_THE_CLASS.items():
            path = out / name
            if path.exists():
                shutil.rmtree(path) if path.is_dir() else path.unlink()
                yield f"{path}: removed, as it shows the whole class. {verb} makes it again"
    except OSError as error:
        raise WrongUse(f"{error.filename} cannot be removed: {error.strerror}. Type the same command again") from None
    finally:
        file.close()
    yield from _left_to_do(student, office)


def _demand_known(file: Store, student: str, folders: list[Path], tables: list[Path]) -> None:
    """Raise WrongUse where nothing is kept of a student, so that a typing error does not look like success."""
    if folders or any(_without(path, student)[1] for path in tables):
        return
    known = {row[0] for table in ("students", "handins", "attempts", "marks") for row in file.file.execute(
        f"select distinct student from {table}")}  # fmt: skip
    if student not in known:
        raise WrongUse(f"{file.path.parent} knows no student {label(student)}. Write the id that grades.csv has")


def _from_store(database: sqlite3.Connection, student: str) -> Iterator[str]:
    """Remove all rows about a student, and the texts and results that no other student shares."""
    database.execute("pragma secure_delete = on")
    both = "select key from handins where student {0} ? union select key from attempts where student {0} ?"
    steps = {
        "result": (f"delete from results where key in ({both.format('=')}) and key not in "
                   f"(select key from ({both.format('!=')}) where key is not null)", (student,) * 4),
        "text": ("delete from kept where digest in (select digest from attempts where student = ?) and digest not in "
                 "(select digest from attempts where student != ?)", (student, student)),
        "hand-in": ("delete from handins where student = ?", (student,)),
        "attempt": ("delete from attempts where student = ?", (student,)),
        "open entry": ("delete from waiting where student = ?", (student,)),
        "mark": ("delete from marks where student = ?", (student,)),
        "override": ("delete from overrides where substr(line, 1, ?) = ?", (len(student) + 1, f"{student}\t")),
        "name": ("delete from students where student = ?", (student,)),
    }  # fmt: skip
    database.execute("begin")
    for kind, (statement, values) in steps.items():
        count = database.execute(statement, values).rowcount
        if count:
            yield count_in_words(count, kind)
    for name, text in database.execute("select name, value from facts").fetchall():
        facts = json.loads(text)
        if isinstance(facts, dict) and facts.pop(student, None) is not None:
            database.execute("update facts set value = ? where name = ?", (json.dumps(facts), name))
            yield f"the note {name!r}"
    database.execute("commit")
    database.execute("vacuum")  # what was deleted is in no free page of the file either


def _folders(out: Path, student: str, office: Office) -> Iterator[Path]:
    """The folders and files that are this student's alone."""
    if not student or "/" in student or student.startswith("."):
        return
    if (out / student / "result.json").exists():
        yield out / student
    for path in sorted((out / LEFT).glob("*")):
        if path.name == student or (path.name.startswith(f"{student} (") and path.name.endswith(")")):
            yield path
    yield from sorted(path for path in (out / ATTEMPTS).glob("*/*") if path.name == student)
    for name in (marking.COMMENTS_FOLDER, by_hand.REQUESTS_FOLDER):
        if office.folder is not None and (page := office.folder / name / f"{student}.md").exists():
            yield page


def _from_table(path: Path, student: str) -> int:
    """Remove the lines about a student from a table. Returns how many there were."""
    table, count = _without(path, student)
    if table is not None and count:
        safe_files.write_whole(path, table.fill({}), mode=private.FILE)
    return count


def _without(path: Path, student: str) -> tuple[Sheet | None, int]:
    """A table without the lines about a student, and how many lines change."""
    if not path.exists() or not path.stat().st_size:
        return None, 0
    table = sheet.read_sheet(path)
    columns = [table.column(title) for title in NAMING]
    could_be = table.column(COULD_BE)
    names = {student, cell(student), f"Participant {student}"}
    rows = [
        _without_word(row, could_be, names)
        for number, row in enumerate(table.rows)
        if not names.intersection(table.cell(number, column) for column in columns if column is not None)
    ]
    changed = len(table.rows) - len(set(rows) & set(table.rows)) if rows != list(table.rows) else 0
    return replace(table, rows=tuple(rows)), changed


def _without_word(row: tuple[str, ...], column: int | None, names: set[str]) -> tuple[str, ...]:
    """A line without a student among those whom a name could mean."""
    if column is None or column >= len(row) or not names.intersection(row[column].split()):
        return row
    words = " ".join(word for word in row[column].split() if word not in names)
    return (*row[:column], words, *row[column + 1 :])


def _left_to_do(student: str, office: Office) -> Iterator[str]:
    """What only a person can remove."""
    yield "Still to do, or the next make grade brings them back:"
    yield "  delete their files in the downloads (SUBMISSIONS), and in your backups"
    if office.roster is not None:
        for number, row in (place for place, id in office.roster.ids.items() if id == student):
            path = office.roster.listings[number].sheet.path
            yield f"  {path}, line {row + 2}: the roster still has them"
    if office.folder is not None and (path := office.folder / by_hand.REQUESTS).exists():
        yield f"  {path}: requests name students by id, name or address. Take theirs out"
    if student in office.course.extensions:
        yield f"  {office.course.path}: [extensions] names them"
