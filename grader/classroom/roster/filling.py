"""Fills the points into the files of the roster, whose columns and their order stay as the platform gave them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from grader import catalog
from grader.classroom import marking
from grader.classroom.course_rules import TOTAL
from grader.classroom.grades import number
from grader.classroom.intake import names
from grader.classroom.roster import moodle, reading
from grader.classroom.roster.sheet import Listing, Roster
from grader.classroom.summary import Row, Summary
from grader.records import safe_files
from grader.records.sanitize import label

FOLDER = "upload"
Columns = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Filled:
    """A file with the points filled in. lines: what the instructor reads about it."""

    name: str
    text: str
    lines: tuple[str, ...]


def write(folder: Path, roster: Roster, columns: Columns, summary: Summary) -> tuple[str, ...]:
    """Write each file of the roster that has a column for points. Returns lines about them."""
    lines: list[str] = []
    for index, listing in enumerate(roster.listings):
        filled_sheet = fill(
            listing, {row: id for (number, row), id in roster.ids.items() if number == index}, columns, summary
        )
        if filled_sheet is None:
            continue
        try:
            folder.mkdir(parents=True, exist_ok=True)
            safe_files.write_whole(folder / filled_sheet.name, filled_sheet.text)
            lines.append(f"To upload: {folder / filled_sheet.name}")
        except OSError as error:
            lines.append(f"{folder / filled_sheet.name} cannot be written: {error.strerror}")
        lines += filled_sheet.lines
    return tuple(lines)


def fill(listing: Listing, ids: Mapping[int, str], columns: Columns, summary: Summary) -> Filled | None:
    """One file with the points in it; None where no column holds any. ids: of the students, by row."""
    sheet, rows = listing.sheet, {row.student.id: row for row in summary.rows}
    holds, is_worksheet = _columns(listing, columns, summary), listing.kind == "worksheet"
    if not holds:
        if listing.kind == "plain":
            return None
        return Filled(sheet.path.name, sheet.fill({}), (_no_column(listing),))
    cells: dict[tuple[int, int], str] = {}
    lines = []
    changed: set[int] = set()
    for column, exercises in holds.items():
        kept_count = 0
        for row, id in ids.items():
            points = _points(rows[id], exercises, summary) if id in rows else None
            before = sheet.cell(row, column)
            if points is None:
                kept_count += before not in ("", "-", *reading.UNTOUCHED)
            elif before in reading.UNTOUCHED or (is_worksheet and moodle.is_locked(sheet, row)):
                kept_count += 1
            else:
                cells[row, column] = number(points)
                changed.add(row)
        lines += _about(listing, column, exercises, kept_count, summary)
    modified = sheet.column(moodle.GRADED) if is_worksheet else None
    if modified is not None:
        cells |= {(row, modified): moodle.now() for row in changed}
    return Filled(sheet.path.name, sheet.fill(cells), tuple(lines))


def _columns(listing: Listing, columns: Columns, summary: Summary) -> dict[int, tuple[str, ...]]:
    """The columns for points, with their exercises, or (TOTAL,)."""
    graded = {exercise.folder for exercise in summary.exercises}
    if listing.kind == "worksheet":
        chosen_exercises = columns.get(listing.sheet.path.name) or ((listing.exercise,) if listing.exercise else ())
        grade = listing.sheet.column("Grade")
        return (
            {grade: chosen_exercises}
            if grade is not None and graded.intersection(chosen_exercises) | ({TOTAL} & set(chosen_exercises))
            else {}
        )
    title_of = {"canvas": reading.title_of, "moodle": moodle.title_of_moodle}.get(listing.kind, str.strip)
    columns_found = {}
    for index, title in enumerate(listing.sheet.header):
        named = names.exercise_of_title(title_of(title))
        chosen_exercises = columns.get(title.strip()) or columns.get(title_of(title)) or ((named,) if named else ())
        if graded.intersection(chosen_exercises) or chosen_exercises == (TOTAL,):
            columns_found[index] = chosen_exercises
    return columns_found


def _points(row: Row, exercises: tuple[str, ...], summary: Summary) -> float | None:
    """The points of a student for these exercises; None where there are none."""
    if exercises == (TOTAL,):
        return row.total if row.handed_in else None
    by_folder = {exercise.folder: points for exercise, points in zip(summary.exercises, row.points)}
    rule = marking.joined_rule(summary.rule.weights, exercises)
    earned = [points * rule.weight(folder) for folder in exercises if (points := by_folder.get(folder)) is not None]
    return round(sum(earned), 6) if earned else None


def _about(listing: Listing, column: int, exercises: tuple[str, ...], kept_count: int, summary: Summary) -> list[str]:
    """Lines about one column."""
    title = label(listing.sheet.path.name if listing.kind == "worksheet" else listing.sheet.header[column])
    lines = [f"  {title} ← {', '.join(exercises)}"]
    if kept_count:
        stay = "1 cell stays as it was" if kept_count == 1 else f"{kept_count} cells stay as they were"
        lines.append(f"    {stay}: excused, locked, or without points here")
    # All exercises of the column count, also those of which nothing was handed in yet: the total alone grows.
    is_total = exercises == (TOTAL,)
    rule = marking.joined_rule(summary.rule.weights, exercises)
    possible_points = [] if is_total else [catalog.find(folder).max_points for folder in exercises]
    max_points = summary.max_points if is_total else marking.maximum(exercises, possible_points, rule)
    so_far = " with the exercises handed in so far" if is_total else f": set {number(max_points)} there"
    if listing.kind == "canvas":
        possible = reading.possible_points(listing.sheet, column)
    else:
        is_worksheet = listing.kind == "worksheet"
        possible = listing.sheet.cell(0, listing.sheet.column(*moodle.MAXIMUM)) if is_worksheet else ""
    try:
        if possible and float(possible.replace(",", ".")) != max_points:
            lines.append(f"    it has {possible} points there and {number(max_points)} here{so_far}")
    except ValueError:
        pass
    return lines


def _no_column(listing: Listing) -> str:
    """The advice where no column belongs to an exercise."""
    name = title = label(listing.sheet.path.name)
    what = "of which exercise is it?"
    if listing.kind != "worksheet":
        what, title = "no column is called like an exercise.", "its title"
    return f'  {name}: {what} Write its number into course.toml, under [columns]: "{title}" = "…"'
