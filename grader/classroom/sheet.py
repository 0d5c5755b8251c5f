"""CSV files of platforms: read, and written again with their columns, their order and their separators."""

import codecs
import csv
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.catalog.errors import WrongUse
from grader.records.sanitize import label

MAX_BYTES = 64 << 20
SEPARATORS = (",", ";", "\t")
BOM = "\ufeff"
SPREADSHEETS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")  # how files of .xlsx and .ods begin, and of .xls
QUOTED = re.compile(r'"[^"]*"')


@dataclass(frozen=True)
class Sheet:
    """The cells of a file. rows: below the header; bom, separator, line_end: as the file has them."""

    path: Path
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    separator: str = ","
    line_end: str = "\n"
    bom: bool = False

    def column(self, *titles: str) -> int | None:
        """The index of the column with the first of these titles that there is, whatever its case; else None."""
        folded = [title.strip().casefold() for title in self.header]
        return next((folded.index(title) for title in map(str.casefold, titles) if title in folded), None)

    def cell(self, row: int, column: int | None) -> str:
        """The text of a cell; "" if the row is too short, or there is no such column."""
        cells = self.rows[row]
        return cells[column].strip() if column is not None and column < len(cells) else ""

    def fill(self, cells: Mapping[tuple[int, int], str]) -> str:
        """The file with new texts in these cells (row, column). All other cells stay as they are."""
        text = io.StringIO()
        writer = csv.writer(text, delimiter=self.separator, lineterminator=self.line_end)
        writer.writerow(self.header)
        for number, row in enumerate(self.rows):
            width = max(len(row), *(column + 1 for at, column in cells if at == number), 0)
            full = [*row, *[""] * (width - len(row))]
            writer.writerow(cells.get((number, column), cell) for column, cell in enumerate(full))
        return BOM * self.bom + text.getvalue()


def read_sheet(path: Path) -> Sheet:
    """The sheet in a file. Raises WrongUse if it is no CSV file in UTF-8 or UTF-16, or too large."""
    shown = label(str(path))
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise WrongUse(f"{shown} cannot be read: {error.strerror}") from None
    if len(data) > MAX_BYTES:
        raise WrongUse(f"{shown} is larger than {MAX_BYTES >> 20} MiB: it is no list of students")
    if data.startswith(SPREADSHEETS):
        raise WrongUse(f"{shown} is a spreadsheet's own file. Save it there as CSV UTF-8, and name that file")
    is_utf16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))  # "Unicode text" of a spreadsheet
    try:
        text = data.decode("utf-16" if is_utf16 else "utf-8")
    except UnicodeDecodeError:
        raise WrongUse(f"{shown} is no text in UTF-8. Save it as CSV UTF-8, or download it again") from None
    bom = text.startswith(BOM)
    text = text.removeprefix(BOM)
    first = QUOTED.sub("", text).partition("\n")[0]  # without separators and line ends that belong to a title
    separator = max(SEPARATORS, key=first.count)
    try:
        rows = [tuple(row) for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)]
    except csv.Error as error:
        raise WrongUse(f"{shown} is no CSV file: {error}") from None
    if not any(rows):
        raise WrongUse(f"{shown} is empty: it should hold a line of titles, and one for each student")
    return Sheet(path, rows[0], tuple(rows[1:]), separator, "\r\n" if first.endswith("\r") else "\n", bom)
