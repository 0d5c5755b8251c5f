"""overrides.csv: points that a person gives, for an exercise or a check, whatever the grader found."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grader import catalog
from grader.catalog.errors import WrongUse
from grader.classroom.roster import sheet
from grader.records.results import FAILED, PASSED, CheckResult, ExerciseResult
from grader.records.sanitize import label

NAME = "overrides.csv"
TITLES = ("student", "exercise", "check", "points", "reason", "who")


@dataclass(frozen=True, slots=True)
class Override:
    """One line of the file. check: its id, "" for the whole exercise; points None: all points of the check."""

    student: str
    exercise: str
    check: str
    points: float | None
    reason: str
    who: str

    @property
    def words(self) -> str:
        """The sentence that students and instructors read."""
        of_check = f"the check {self.check}: " if self.check else ""
        points = "all its points" if self.points is None else f"{self.points:g} points"
        by = f", by {self.who}" if self.who else ""
        return f"set by hand: {of_check}{points}{by}" + (f" ({self.reason})" if self.reason else "")


def read(path: Path) -> tuple[Override, ...]:
    """The overrides in a file; none where there is no file. Raises WrongUse with the line that is wrong."""
    if not path.exists():
        return ()
    table = sheet.read(path)
    columns = {title: table.column(title) for title in TITLES}
    if None in (columns["student"], columns["exercise"], columns["points"]):
        raise WrongUse(f"{label(str(path))} needs the columns {', '.join(TITLES)}; check may be left out")
    in_order: list[Override] = []
    lines: dict[tuple[str, str], dict[str, int]] = {}  # (student, exercise) → check → the line that sets it
    for row in range(len(table.rows)):
        cells = {title: table.cell(row, column) for title, column in columns.items()}
        if any(cells.values()):
            location = f"{label(str(path))}, line {row + 2}"
            override = _override(cells, location)
            rows_by_check = lines.setdefault((override.student, override.exercise), {})
            for check, line in rows_by_check.items():
                if check == override.check or not check or not override.check:  # the one would make the other void
                    raise WrongUse(
                        f"{location}: line {line} sets {override.exercise} of {label(override.student)} too. Keep one"
                    )
            rows_by_check[override.check] = row + 2
            in_order.append(override)
    return tuple(in_order)


def applied(result: ExerciseResult, overrides: Iterable[Override]) -> ExerciseResult:
    """The result with the points that a person gave.

    An override of a check takes the place of what was found. One of the exercise leaves the checks as they are: they
    say what the code does, and `given` which points count.
    """
    for override in overrides:
        if override.check:
            checks = tuple(_set(check, override) if check.id == override.check else check for check in result.checks)
            result = replace(result, checks=checks)
        else:
            result = replace(result, given=override.points)
        result = replace(result, notes=(*result.notes, override.words))
    return result


def _set(check: CheckResult, override: Override) -> CheckResult:
    """The check with the points of its override."""
    points = check.max_points if override.points is None else override.points
    outcome = PASSED if points >= check.max_points else FAILED
    return replace(check, points=points, outcome=outcome, message=override.words, diagnosis=None, lines=(), where="")


def of(result: ExerciseResult, student: str, overrides: Iterable[Override]) -> ExerciseResult:
    """The result with those overrides that are this student's, for this exercise."""
    return applied(
        result,
        (override for override in overrides if (override.student, override.exercise) == (student, result.exercise)),
    )


def points(result: ExerciseResult | None, overrides: Sequence[Override]) -> float | None:
    """The points that overrides give: of the last one for the exercise, else the sum with overridden checks."""
    points_of_exercise = [override.points for override in overrides if not override.check]
    if points_of_exercise:
        return points_of_exercise[-1]
    return applied(result, overrides).points if result is not None else None


def _override(cells: dict[str, str], location: str) -> Override:
    """One line. Raises WrongUse."""
    try:
        exercise = catalog.find(cells["exercise"]).folder
    except catalog.NoSuchExercise as error:
        raise WrongUse(f"{location}: {error}") from None
    check, text = cells["check"], cells["points"].replace(",", ".")
    checks = catalog.read(exercise).points
    if check and check not in checks:
        raise WrongUse(f"{location}: {exercise} has no check {label(check)}. It has: {', '.join(checks)}")
    try:
        points = float(text) if text else None
    except ValueError:
        points = math.nan
    max_points = checks[check] if check else catalog.read(exercise).max_points
    if (points is None and not check) or (points is not None and not 0 <= points <= max_points):
        raise WrongUse(f"{location}: points must be a number from 0 to {max_points:g}, not {label(text) or 'nothing'}")
    return Override(cells["student"], exercise, check, points, label(cells["reason"]), label(cells["who"]))
