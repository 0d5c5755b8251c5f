"""The mark of a student by the rules of the course: lateness, attempts, overrides, totals, comments. Pure functions."""

import functools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path

from grader import catalog
from grader.catalog import Exercise
from grader.catalog.errors import WrongUse
from grader.classroom.course_rules import BEST, UNIT_S, Course, LateRule
from grader.classroom.roster import sheet
from grader.classroom.roster.sheet import Sheet
from grader.records.results import FAILED, PASSED, CheckResult, ExerciseResult
from grader.records.sanitize import inert, label

OVERRIDES = "overrides.csv"
OVERRIDE_TITLES = ("student", "exercise", "check", "points", "reason", "who")
COMMENTS, COMMENTS_FOLDER = "comments.csv", "comments"
MAX_TEXT = 20_000  # characters of one comment
FORMULA = re.compile(r"'*[=+\-@]")  # a cell that a spreadsheet runs, and one that is guarded already
Comments = dict[tuple[str, str], str]  # (student's id, exercise's folder or "" for all) → text


@dataclass(frozen=True)
class Lateness:
    """units: begun days or hours after the deadline and the grace; after_end: it came when nothing counted any more."""

    units: int = 0
    per: str = "day"
    after_end: bool = False
    is_measured: bool = True  # False: only the platform's mark says that it is late

    @property
    def words(self) -> str:
        """ "2 days late", "late", "after the cut-off", or ""."""
        if self.after_end:
            return "after the cut-off"
        if not self.is_measured:
            return "late"
        return f"{self.units} {self.per}{'' if self.units == 1 else 's'} late" if self.units else ""


ON_TIME = Lateness()


def lateness(
    rule: LateRule, handed_in: datetime | None, marked: bool, deadline: datetime | None, end: datetime | None = None
) -> Lateness:
    """How late a hand-in is.

    handed_in: when, None where nobody knows; marked: the platform marks it as late, which counts where the time is not
    known; deadline: of this student; end: the cut-off.
    """
    if handed_in is None:
        return Lateness(rule.unknown, rule.per, is_measured=False) if marked else ON_TIME
    if end is not None and handed_in.astimezone(timezone.utc) > end.astimezone(timezone.utc):
        return Lateness(_units(rule, handed_in, deadline or end), rule.per, after_end=True)
    return Lateness(_units(rule, handed_in, deadline), rule.per) if deadline is not None else ON_TIME


def share(rule: LateRule, late: Lateness) -> float:
    """The share of the points that is left, 0 to 1."""
    return 0.0 if late.after_end else 1 - min(rule.cap, rule.percent * late.units) / 100


@dataclass(frozen=True)
class Attempt:
    """One hand-in, in the order in which they came. result None: it could not be graded."""

    digest: str
    result: ExerciseResult | None
    late: Lateness = ON_TIME

    def points(self, rule: LateRule) -> float:
        """The points after the rule for late hand-ins."""
        return round((self.result.points if self.result else 0.0) * share(rule, self.late), 6)


def counting_attempt(attempts: Sequence[Attempt], policy: str, rule: LateRule) -> Attempt | None:
    """The attempt that counts; None where there is none.

    "latest": the last one before the cut-off, else the last one. "best": the one with most points after the rule for
    late hand-ins, of equal ones the latest.
    """
    if not attempts:
        return None
    if policy == BEST:
        graded = [attempt for attempt in attempts if attempt.result is not None]
        return max(reversed(graded), key=lambda attempt: attempt.points(rule)) if graded else attempts[-1]
    in_time = [attempt for attempt in attempts if not attempt.late.after_end]
    return in_time[-1] if in_time else attempts[-1]


@dataclass(frozen=True)
class TotalRule:
    """weights: of exercises, by folder, 1 where it names none; drop_lowest: how many exercises do not count."""

    weights: Mapping[str, float] = field(default_factory=dict)
    drop_lowest: int = 0

    def weight(self, exercise: str) -> float:
        """The factor of an exercise's points."""
        return self.weights.get(exercise, 1.0)


PLAIN = TotalRule()


def joined_rule(weights: Mapping[str, float], exercises: Sequence[str]) -> TotalRule:
    """The rule for the points of a column with several exercises: they are weighed, as in the total; none is dropped.

    A column of one exercise has its own points, which the platform may weigh.
    """
    own = {folder: weights[folder] for folder in exercises if weights.get(folder, 1.0) != 1.0}
    return TotalRule(own) if len(exercises) > 1 and own else PLAIN


def counted(
    exercises: Sequence[str], points: Sequence[float | None], max_points: Sequence[float], rule: TotalRule
) -> list[int]:
    """The indices of the exercises that count: all but those with the smallest shares of their points.

    What was not handed in has a share of 0. Of equal shares the exercise that weighs most is dropped, in the student's
    favour, then the later one.
    """
    if rule.drop_lowest <= 0:
        return list(range(len(exercises)))
    shares = [(earned or 0.0) / (possible or 1.0) for earned, possible in zip(points, max_points)]
    order = sorted(range(len(exercises)), key=lambda i: (shares[i], -max_points[i] * rule.weight(exercises[i]), -i))
    return sorted(order[min(rule.drop_lowest, len(order) - 1) :]) if order else []


def total(
    exercises: Sequence[str], points: Sequence[float | None], most: Sequence[float], rule: TotalRule = PLAIN
) -> float:
    """The weighted sum of the points that count.

    Where exercises are dropped, students may have different ones left. So the total is the share of what is left, times
    the class's maximum: who lacks the same share has the same total, whichever exercise was dropped.
    """
    if rule.drop_lowest <= 0:
        return _weigh(exercises, points, range(len(exercises)), rule)
    left = counted(exercises, points, most, rule)
    possible = _weigh(exercises, most, left, rule)
    share = _weigh(exercises, points, left, rule) / possible if possible else 0.0
    return round(share * maximum(exercises, most, rule), 2)


def maximum(exercises: Sequence[str], most: Sequence[float], rule: TotalRule = PLAIN) -> float:
    """The total of a student with all points: the exercises that weigh least are left out of it, as many as drop."""
    if rule.drop_lowest <= 0:
        return _weigh(exercises, most, range(len(exercises)), rule)
    weights = sorted(points * rule.weight(exercise) for exercise, points in zip(exercises, most))
    return round(sum(weights[min(rule.drop_lowest, len(weights) - 1) :]), 6) if weights else 0.0


def guard(text: str) -> str:
    """The text as a cell that no spreadsheet runs as a formula."""
    return f"'{text}" if FORMULA.match(text) else text


def unguard(text: str) -> str:
    """The text of a cell that was guarded."""
    return text[1:] if text.startswith("'") and FORMULA.match(text) else text


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


def read_overrides(path: Path) -> tuple[Override, ...]:
    """The overrides in a file; none where there is no file. Raises WrongUse with the line that is wrong."""
    return overrides_of(sheet.read_sheet(path)) if path.exists() else ()


def overrides_of(table: Sheet) -> tuple[Override, ...]:
    """The overrides in a table. Raises WrongUse with the line that is wrong."""
    path = table.path
    if None in map(table.column, ("student", "exercise", "points")):
        raise WrongUse(
            f"{label(str(path))} needs the columns student, exercise and points; check, reason and who may be left out"
        )
    in_order: list[Override] = []
    lines: dict[tuple[str, str], dict[str, int]] = {}  # (student, exercise) → check → the line that sets it
    for number, texts in enumerate(table.cells(*OVERRIDE_TITLES), 2):
        if any(texts):
            location = f"{label(str(path))}, line {number}"
            override = _override(dict(zip(OVERRIDE_TITLES, texts)), location)
            rows_by_check = lines.setdefault((override.student, override.exercise), {})
            for check, line in rows_by_check.items():
                if check == override.check or not check or not override.check:  # the one would make the other void
                    raise WrongUse(
                        f"{location}: line {line} sets {override.exercise} of {label(override.student)} too. Keep one"
                    )
            rows_by_check[override.check] = number
            in_order.append(override)
    return tuple(in_order)


def apply_overrides(result: ExerciseResult, overrides: Iterable[Override]) -> ExerciseResult:
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


def override_result(result: ExerciseResult, student: str, overrides: Iterable[Override]) -> ExerciseResult:
    """The result with those overrides that are this student's, for this exercise."""
    return apply_overrides(
        result,
        (override for override in overrides if (override.student, override.exercise) == (student, result.exercise)),
    )


@dataclass(frozen=True, slots=True)
class Step:
    """One rule on the way to a mark, and the points after it (None: there are none)."""

    words: str
    points: float | None


@dataclass(frozen=True)
class Mark:
    """One exercise of one student. raw: the grader's points; points: those that count (None: there are none).

    result: of the attempt that counts; digest: of that hand-in; notes: what else a reader must know; is_earlier: the
    attempt that counts is not the latest one; steps: how the points came about, in order.
    """

    exercise: str
    raw: float | None
    points: float | None
    late: Lateness = ON_TIME
    result: ExerciseResult | None = None
    digest: str = ""
    overrides: tuple[Override, ...] = ()
    notes: tuple[str, ...] = ()
    is_earlier: bool = False
    steps: tuple[Step, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """All that explains the points, for students and instructors."""
        deduction = f": {self.raw:g} points before the deduction" if self.raw and self.raw != self.points else ""
        late = (f"{self.late.words}{'' if self.overrides else deduction}",) if self.late.words else ()
        return (*late, *(override.words for override in self.overrides), *self.notes)


def mark(course: Course, exercise: str, tried: Sequence[Attempt], own_overrides: Sequence[Override] = ()) -> Mark:
    """The mark for an exercise. tried: the student's attempts, the last one latest; own_overrides: this student's.

    An override of the exercise counts as it is; one of a check is deducted from like all else.
    """
    counting = counting_attempt(tried, course.attempts, course.late)
    is_earlier = counting is not None and counting is not tried[-1]
    place = next((number for number, attempt in enumerate(tried, 1) if attempt is counting), 0)
    counts = f"attempt {place} of {len(tried)} counts"
    notes = (counts,) if is_earlier else ()
    late = counting.late if counting else ON_TIME
    result = counting.result if counting else None
    raw = points = result.points if result else None
    which = counts if is_earlier or course.attempts == BEST else "the latest attempt counts"
    steps = [Step(f"{which}, the grader's points" if tried else "no hand-in that is graded", raw)]
    of_checks = [override for override in own_overrides if override.check]
    if result is not None and of_checks:
        points = apply_overrides(result, of_checks).points
        steps.append(Step("; ".join(override.words for override in of_checks), points))
    if points is not None:
        left = share(course.late, late)
        points = round(points * left, 6)
        if late.words:
            steps.append(Step(f"{late.words}: {left * 100:g} % of the points are left", points))
    for override in own_overrides:
        if not override.check:
            points = override.points
            steps.append(Step(override.words, points))
    digest = counting.digest if counting else ""
    return Mark(exercise, raw, points, late, result, digest, tuple(own_overrides), notes, is_earlier, tuple(steps))


@dataclass(frozen=True)
class Standing:
    """One student. marks: by exercise; comments: by exercise, "" for all of the work; notes: for the instructor.

    unplaced: why the only file of an exercise could not be graded, "" where nobody knows of which exercise it is.
    """

    marks: Mapping[str, Mark] = field(default_factory=dict)
    comments: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    rule: TotalRule = PLAIN
    unplaced: Mapping[str, str] = field(default_factory=dict)

    def points(self, exercise: str, raw: float | None) -> float | None:
        """The points that count. raw: the grader's."""
        return self.marks[exercise].points if exercise in self.marks else raw

    def shown(self, result: ExerciseResult) -> ExerciseResult:
        """The result as the student reads it: with what was set by hand."""
        mark = self.marks.get(result.exercise)
        return apply_overrides(result, mark.overrides) if mark else result


NOTHING = Standing()


def read_comments(folder: Path) -> Comments:
    """The comments beside course.toml. Raises WrongUse for a file that cannot be read."""
    by_key: Comments = {}
    path = folder / COMMENTS
    if path.exists():
        table = sheet.read_sheet(path)
        if table.column("student") is None or table.column("comment") is None:
            raise WrongUse(f"{label(str(path))} needs the columns student, exercise, comment; exercise may be left out")
        for line, (student, exercise, text) in enumerate(table.cells("student", "exercise", "comment"), 2):
            key = student, _folder(exercise, f"{label(str(path))}, line {line}")
            if own := unguard(text):
                by_key[key] = "\n\n".join(filter(None, [by_key.get(key), inert(own)[:MAX_TEXT]]))
    for student, text in texts_of_students(folder / COMMENTS_FOLDER):
        if comment := inert(text)[:MAX_TEXT].strip():
            by_key[student, ""] = "\n\n".join(filter(None, [by_key.get((student, "")), comment]))
    return by_key


def texts_of_students(folder: Path) -> Iterator[tuple[str, str]]:
    """The student's id and the text of each <student>.md of a folder. Raises WrongUse for one that cannot be read."""
    for file in sorted(folder.glob("*.md")):
        try:
            yield file.stem, file.read_text("utf-8")
        except (OSError, UnicodeDecodeError):
            raise WrongUse(f"{label(str(file))} cannot be read as UTF-8") from None


def _units(rule: LateRule, handed_in: datetime, deadline: datetime) -> int:
    """Begun units after the deadline; none within the grace, which then does not shorten the delay."""
    # In UTC: between two times of one zone Python counts hours of the clock, also where the clock was changed.
    seconds = (handed_in.astimezone(timezone.utc) - deadline.astimezone(timezone.utc)).total_seconds()
    return math.ceil(seconds / UNIT_S[rule.per]) if seconds > rule.grace_s else 0


def _weigh(exercises: Sequence[str], points: Sequence[float | None], indices: Iterable[int], rule: TotalRule) -> float:
    """The sum of the points of these exercises, each times its weight."""
    return round(sum((points[i] or 0.0) * rule.weight(exercises[i]) for i in indices), 6)


def _set(check: CheckResult, override: Override) -> CheckResult:
    """The check with the points of its override."""
    points = check.max_points if override.points is None else override.points
    outcome = PASSED if points >= check.max_points else FAILED
    return replace(check, points=points, outcome=outcome, message=override.words, diagnosis=None, lines=(), where="")


def _override(cells: dict[str, str], location: str) -> Override:
    """One line. Raises WrongUse."""
    try:
        exercise = catalog.find(cells["exercise"]).folder
    except catalog.NoSuchExercise as error:
        raise WrongUse(f"{location}: {error}") from None
    check, text = cells["check"], cells["points"].replace(",", ".")
    checks = _exercise(exercise).points
    if check and check not in checks:
        raise WrongUse(f"{location}: {exercise} has no check {label(check)}. It has: {', '.join(checks)}")
    try:
        points = float(text) if text else None
    except ValueError:
        points = math.nan
    max_points = checks[check] if check else _exercise(exercise).max_points
    if (points is None and not check) or (points is not None and not 0 <= points <= max_points):
        raise WrongUse(f"{location}: points must be a number from 0 to {max_points:g}, not {label(text) or 'nothing'}")
    return Override(cells["student"], exercise, check, points, label(cells["reason"]), label(cells["who"]))


@functools.cache  # a file of overrides names the same ones again and again
def _exercise(folder: str) -> Exercise:
    return catalog.read(folder)


def _folder(text: str, location: str) -> str:
    """The exercise's folder; "" for a comment on all of the student's work."""
    try:
        return catalog.find(text).folder if text else ""
    except catalog.NoSuchExercise as error:
        raise WrongUse(f"{location}: {error}") from None
