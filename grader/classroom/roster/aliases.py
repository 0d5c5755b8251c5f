"""aliases.csv: what a person settled about names that the roster does not know, or knows twice. It is kept."""

import csv
import io
from collections.abc import Iterable
from pathlib import Path

from grader.catalog.errors import WrongUse
from grader.classroom.grades import cell
from grader.classroom.roster import sheet
from grader.classroom.roster.matching import NOT_OURS, Open
from grader.classroom.roster.people import Roster
from grader.records.sanitize import label

NAME = "aliases.csv"
TITLES = ("found", "name", "student", "could be")


class Aliases(dict[str, str]):
    """The meaning of each name found in an archive: a student's id, or NOT_OURS."""

    def get(self, key: str, default: str | None = None) -> str | None:  # type: ignore[override]
        """The meaning of a name. The file holds names as safe cells."""
        return super().get(cell(key), default)


def read(path: Path, roster: Roster) -> Aliases:
    """The settled names. Raises WrongUse where the file has other columns, or names a student whom nobody knows."""
    settled = Aliases()
    if not path.exists():
        return settled
    table = sheet.read(path)
    name_column, student_column = table.column("found"), table.column("student")
    if name_column is None or student_column is None:
        raise WrongUse(f"{label(str(path))} needs the columns found and student")
    ids = {person.id for person in roster.people}
    for row in range(len(table.rows)):
        id = table.cell(row, student_column)
        if id and id not in ids and id != NOT_OURS:
            raise WrongUse(f"{label(str(path))}, line {row + 2}: nobody on the roster has the id {label(id)}")
        if id:
            settled[table.cell(row, name_column)] = id
    return settled


def add(path: Path, open_names: Iterable[Open]) -> int:
    """Add names that wait for a person, each with an empty cell for the student. Returns how many are new.

    Raises WrongUse where the file cannot be written.
    """
    table = sheet.read(path) if path.exists() else None
    old = {table.cell(row, table.column("found")) for row in range(len(table.rows))} if table else set()
    new = [name for name in open_names if cell(name.key) not in old]
    if not new:
        return 0
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if table is not None and not path.read_bytes().endswith(b"\n"):
        text.write("\n")
    if table is None:
        writer.writerow(TITLES)
    writer.writerows(
        [cell(open_name.key), cell(open_name.name), "", cell(" ".join(open_name.fits or open_name.similar))]
        for open_name in new
    )
    try:
        with path.open("a", encoding="utf-8", newline="") as file:
            file.write(text.getvalue())
    except OSError as error:
        raise WrongUse(f"{label(str(path))} cannot be written: {error.strerror}") from None
    return len(new)
