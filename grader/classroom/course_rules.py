"""The rules of a course, course.toml: deadlines, lateness, attempts, weights. An unknown key is an error.

A brake for guessers is off by default: how many graded attempts a student has, and how long to wait between two. Who
comes too early, or too often, is not graded and keeps the mark of the last graded attempt.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta, timezone, tzinfo
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from grader import catalog
from grader.catalog import tomllib
from grader.catalog.errors import WrongUse
from grader.records.sanitize import label
from grader.reports.html import LEVELS

MINUTE_S, HOUR_S = 60, 3600
NAME = "course.toml"
UNIT_S = {"day": 86_400, "hour": 3_600}
LATEST, BEST = "latest", "best"
TOTAL = "total"
Times = Mapping[str, datetime]  # by the folder of the exercise
RULES = {
    "": ("timezone", "roster", "feedback", "release", "anonymous", "attempts", "drop_lowest", "late", "deadlines",
         "cut_off", "extensions", "weights", "sections", "columns", "titles", "brake"),
    "[late]": ("per", "percent", "cap", "grace_minutes", "unknown"),
    "[sections]": ("deadlines", "cut_off"),
    "[brake]": ("attempts", "wait_minutes"),
}  # fmt: skip
# At the end of a line that TOML cannot read: 2026-11-31, 2026-11-20 23:59, 20.11.2026.
DATE = re.compile(r"=\s*((?:\d{4}-|\d{1,2}[./]\d{1,2}[./])\d[\d:TZ.+-]*(?: \d[\d:.]*)?)")
TWICE = re.compile("Cannot (overwrite|declare|mutate)")  # tomllib's words
HEAD = """\
# The rules of this course, for `make grade`, nbgrader's road (in the course's folder) and Gradescope's (RULES=…).
# They are applied to the results after grading: change one, grade again, and nothing is graded again.
# Beside this file may stand: overrides.csv, comments.csv, comments/<student>.md, handed_in.csv, aliases.csv.

timezone = "UTC"          # of the times below, and of your Moodle profile: such as "Europe/Berlin"
# roster = "roster.csv"   # Canvas gradebook, Moodle worksheet or grade export, or id,name,… (or a folder of them)
feedback = "full"         # what students read: LEVELS
# release = 2026-12-24T12:00:00   # from when on `make handback` hands feedback back without RELEASE=yes
anonymous = false         # true: the page of the class shows pseudonyms

attempts = "latest"       # "latest": the last one before the cut-off; "best": the one with most points
drop_lowest = 0           # how many exercises, those with the smallest share of their points, do not count

[late]
per = "day"               # "day" or "hour": each one begun after the deadline costs
percent = 0               # so many percent of the points that the hand-in has,
cap = 100                 # and at most so many in all
grace_minutes = 0         # so late is not late; who is later is late from the deadline on
unknown = 1               # days or hours where a platform says LATE, but nobody knows when it came (Canvas)

[brake]                   # against guessing: on Gradescope, Classroom 50 and nbgrader's road, where 0 is off
attempts = 0              # so many graded attempts at an assignment
wait_minutes = 0          # so long from one to the next; who comes earlier is not graded, and keeps the mark

[deadlines]               # a date alone is the end of that day
"""
TAIL = """
[cut_off]                 # what comes later does not count at all
# "01" = 2026-11-27

[extensions]              # by the student's id, as grades.csv has it
# "4711" = { "01" = 2026-11-24, "02" = 2026-12-01 }

[sections]                # sections or groups of the roster with times of their own
# "Monday group" = { deadlines = { "01" = 2026-11-21 }, cut_off = { "01" = 2026-11-28 } }

[weights]                 # factors of points in the total, 1 where none is named
# "01" = 2

[columns]                 # columns of the roster's file that are called otherwise: an exercise, several, or "total"
# "Homework 1 (98765)" = "01"
# "Attention (98766)" = ["03", "04", "05"]
# "Grades-CS1-Homework 1-123.csv" = "01"      # a Moodle worksheet, by the name of its file

[titles]                  # what columns of the roster's file are, where their titles are not understood
# "Matrikelnummer" = "id"              # id, name (or first_name, last_name), email, sis_id, login, section, group
# "Zuletzt geändert (Abgabe)" = "Last modified (submission)"    # Moodle's titles in English
"""


@dataclass(frozen=True)
class Brake:
    """The rule. attempts: how many are graded, 0 for any number; wait_s: seconds from a graded attempt to the next."""

    attempts: int = 0
    wait_s: float = 0.0

    def __bool__(self) -> bool:
        return bool(self.attempts or self.wait_s)

    @property
    def announcement(self) -> str:
        """What students must know beforehand; "" without a brake."""
        if not self:
            return ""
        count = f"You have {self.attempts} graded attempt{'s' * (self.attempts != 1)}." if self.attempts else ""
        wait = f"From one graded attempt to the next, wait at least {_spoken(self.wait_s)}." if self.wait_s else ""
        kept = (
            "What you hand in earlier or more often is not graded, and you keep the mark of your last graded attempt."
        )
        return " ".join(filter(None, (count, wait, kept)))

    def held(self, graded: Sequence[datetime], now: datetime) -> str:
        """Why an attempt is not graded now, for the student; "" where it is. graded: when earlier ones were."""
        if self.attempts and len(graded) >= self.attempts:
            used = "Your only graded attempt is" if self.attempts == 1 else f"All {self.attempts} graded attempts are"
            return f"Not graded. {used} used, and you keep the mark of your last graded attempt."
        if graded and now < self._from(graded):
            return (
                f"Not graded: your last graded attempt was at {_moment(max(graded))}, and the next one can come from "
                f"{_moment(self._from(graded))} on. You keep the mark of your last graded attempt until then."
            )
        return ""

    def standing(self, graded: Sequence[datetime]) -> str:
        """What a student reads beside a graded attempt. graded: when attempts were graded, this one too."""
        count = f"Graded attempt {len(graded)} of {self.attempts}." if self.attempts else ""
        is_last = self.attempts and len(graded) >= self.attempts
        then = f"The next one can come from {_moment(self._from(graded))} on." if self.wait_s and not is_last else ""
        return " ".join(filter(None, (count, then)))

    def graded(self, times: Sequence[datetime]) -> list[int]:
        """Which of these attempts were graded, by index, where each was handed to the grader as it came."""
        chosen: list[int] = []
        for index in sorted(range(len(times)), key=lambda i: times[i]):
            if not self.held([times[i] for i in chosen], times[index]):
                chosen.append(index)
        return chosen

    def _from(self, graded: Sequence[datetime]) -> datetime:
        return max(graded) + timedelta(seconds=self.wait_s)


NO_BRAKE = Brake()


def _spoken(seconds: float) -> str:
    """ "2 hours", "90 minutes"."""
    unit, size = next(
        (unit, size) for unit, size in (("hour", HOUR_S), ("minute", MINUTE_S), ("second", 1)) if seconds % size == 0
    )
    count = seconds / size
    return f"{count:g} {unit}{'s' * (count != 1)}"


def _moment(time: datetime) -> str:
    """A time to the minute, rounded up, so that nobody comes too early."""
    utc = time.astimezone(timezone.utc)
    rounded = utc + timedelta(seconds=-utc.second % MINUTE_S if not utc.microsecond else MINUTE_S - utc.second)
    return f"{rounded:%Y-%m-%d %H:%M} UTC"


@dataclass(frozen=True)
class LateRule:
    """The deduction for a late hand-in: `percent` of its points for each begun `per`, at most `cap` percent.

    per: "day" or "hour"; grace_s: seconds after the deadline that cost nothing; unknown: the units where only the
    platform's mark says late.
    """

    per: str = "day"
    percent: float = 0.0
    cap: float = 100.0
    grace_s: float = 0.0
    unknown: int = 1


@dataclass(frozen=True)
class Course:
    """The rules of a course. Without a file these defaults hold: no deadline, the latest attempt, the plain sum.

    extensions: by student's id, then exercise; sections: the deadlines and cut-offs of each; columns: of the roster's
    file, by title, the exercises whose points they hold, or (TOTAL,); titles: what its columns are called in English,
    by the title that they have there.
    """

    path: Path | None = None
    zone: tzinfo = timezone.utc
    roster: Path | None = None
    feedback: str | None = None
    release: datetime | None = None
    anonymous: bool = False
    attempts: str = LATEST
    drop_lowest: int = 0
    late: LateRule = LateRule()
    deadlines: Times = field(default_factory=dict)
    cut_off: Times = field(default_factory=dict)
    extensions: Mapping[str, Times] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)
    sections: Mapping[str, tuple[Times, Times]] = field(default_factory=dict)
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)
    brake: Brake = NO_BRAKE

    def deadline(self, student: str, section: str, exercise: str) -> datetime | None:
        """Until when this student may hand in: the extension, else the section's deadline, else the course's."""
        extension = self.extensions.get(student, {}).get(exercise)
        return extension or self._of_section(section, 0, exercise) or self.deadlines.get(exercise)

    def last(self, student: str, section: str, exercise: str) -> datetime | None:
        """From when on nothing counts. An extension moves it where it would end before."""
        end = self._of_section(section, 1, exercise) or self.cut_off.get(exercise)
        extension = self.extensions.get(student, {}).get(exercise)
        return max(end, extension) if end and extension else end

    def sections_of(self, text: str) -> tuple[str, ...]:
        """The sections of this file that a cell of the roster names. Canvas writes several as "A, B, and C"."""
        if text in self.sections:
            return (text,)
        before, after = r"(?:^|, and |, | and )", r"(?=$|, | and )"
        return tuple(name for name in self.sections if re.search(before + re.escape(name) + after, text))

    def _of_section(self, text: str, which: int, exercise: str) -> datetime | None:
        """The deadline (which = 0) or cut-off (1) of a student's sections; of several the latest, in their favour."""
        times = (self.sections[name][which].get(exercise) for name in self.sections_of(text))
        return max((time for time in times if time), default=None)


def read_rules(path: Path) -> Course:
    """The rules in a file. Raises WrongUse where it cannot be read, or holds what is no rule."""
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise WrongUse(f"{path} cannot be read: {error.strerror}. Make one: make course") from None
    except UnicodeDecodeError:
        raise WrongUse(f"{path} is not UTF-8 text. Save it again with the encoding UTF-8") from None
    try:
        course = _course(path, tomllib.loads(text))
        _demand_order(course)
        return course
    except _Wrong as error:
        raise WrongUse(f"{path}: {error}") from None
    except ValueError as error:  # of tomllib
        raise WrongUse(f"{path}{_not_toml(text, str(error))}") from None


class _Wrong(ValueError):
    """An error in the file. The text says which."""


def template() -> str:
    """The file, with a line for the deadline of each exercise."""
    lines = [
        f'# "{exercise.folder[:2]}" = 2026-11-20T23:59:00    # {exercise.title}' for exercise in catalog.exercises()
    ]
    return HEAD.replace("LEVELS", ", ".join(LEVELS)) + "\n".join(lines) + "\n" + TAIL


def _course(path: Path, content: dict[str, Any]) -> Course:
    _demand_keys(content, "")
    _demand_places(content)
    zone = _zone(content.get("timezone", "UTC"))
    roster = _text(content, "roster")
    sections = {}
    for name, section in _table(content, "sections").items():
        _demand_keys(section, "[sections]", f"sections.{name}")
        sections[name] = (_times(section, "deadlines", zone), _times(section, "cut_off", zone))
    extensions, weights = _table(content, "extensions"), _table(content, "weights")
    return Course(
        path,
        zone,
        path.parent / roster if roster else None,
        _one_of(content, "feedback", (None, *LEVELS)),
        _time(content["release"], zone, "release") if "release" in content else None,
        _one_of(content, "anonymous", (False, True)),
        _one_of(content, "attempts", (LATEST, BEST)),
        int(_number(content, "drop_lowest", 0, is_whole=True)),
        _late(_table(content, "late")),
        _times(content, "deadlines", zone),
        _times(content, "cut_off", zone),
        {student: _times(extensions, student, zone) for student in extensions},
        {folder: _number(weights, word, 1) for folder, word in _by_exercise(weights, "weights").items()},
        sections,
        {title: _column(title, value) for title, value in _table(content, "columns").items()},
        {title: _text(_table(content, "titles"), title) for title in _table(content, "titles")},
        _brake(_table(content, "brake")),
    )


def _not_toml(text: str, error: str) -> str:
    """What follows the file's name in the message about a file that is no TOML: the line, and what is wrong with it."""
    lines = text.splitlines()
    match = re.search(r"line (\d+)", error)
    number = int(match[1]) if match else len(lines)  # else "at end of document"
    if not 0 < number <= len(lines):
        return f" is no TOML: {error}"
    line = lines[number - 1].strip()
    if TWICE.match(error):
        return f", line {number}: this is there twice, keep one of them: {label(line)}"
    if date_written := DATE.search(line):
        return f", line {number}: there is no time {date_written[1]}. Write 2026-11-20, or 2026-11-20T23:59:00"
    return f', line {number}, is no TOML: {label(line)}. Write such as: percent = 10, roster = "roster.csv"'


def _demand_order(course: Course) -> None:
    """Raise where nobody could hand in as long as a deadline says, or where an extension gives a student less time."""
    sections = course.sections.items()
    for where, times, ends in [("", course.deadlines, course.cut_off), *((f" of {n}", *both) for n, both in sections)]:
        for exercise in times.keys() & ends.keys():
            if ends[exercise] < times[exercise]:
                raise _Wrong(f"cut_off{where}: {exercise} is cut off before its deadline")
    deadlines = [course.deadlines, *(section[0] for _, section in sections)]
    for student, own in course.extensions.items():
        for exercise, until in own.items():
            known = [times[exercise] for times in deadlines if exercise in times]
            if known and until < min(known):
                raise _Wrong(
                    f"extensions.{label(student)}: {exercise} would have to come earlier than for all others, "
                    f"{until:%Y-%m-%d %H:%M} instead of {min(known):%Y-%m-%d %H:%M}"
                )


def _late(table: dict[str, Any]) -> LateRule:
    _demand_keys(table, "[late]")
    per = _one_of(table, "per", tuple(UNIT_S))
    grace_s = 60 * _number(table, "grace_minutes", 0)
    unknown = int(_number(table, "unknown", 1, is_whole=True))
    percent, cap = _number(table, "percent", 0, 100), _number(table, "cap", 100, 100)
    return LateRule(per, percent, cap, grace_s, unknown)


def _brake(table: dict[str, Any]) -> Brake:
    _demand_keys(table, "[brake]")
    return Brake(int(_number(table, "attempts", 0, is_whole=True)), 60 * _number(table, "wait_minutes", 0))


def _demand_places(content: dict[str, Any]) -> None:
    """Raise where a rule of the whole course is below the name of a table, to which it would belong then."""
    for name, table in content.items():
        if not isinstance(table, dict) or name in ("columns", "titles"):  # whose keys are words of other files
            continue
        for key, value in table.items():
            if key in RULES[""] and key not in RULES.get(f"[{name}]", ()) and not isinstance(value, dict):
                raise _Wrong(f"{key} is below [{name}]. Write it above the first line in brackets")


def _demand_keys(table: Any, kind: str, location: str = "") -> None:
    """Raise where a table holds what is no rule, so that a misspelt one is not silently without effect."""
    location = location or kind.strip("[]")
    if not isinstance(table, dict):
        raise _Wrong(f"{location} must be a table")
    for key in table:
        if key not in RULES[kind]:
            raise _Wrong(f"{location or 'the file'} knows no {label(key)}. It knows: {', '.join(RULES[kind])}")


def _table(content: dict[str, Any], name: str) -> dict[str, Any]:
    value = content.get(name, {})
    if not isinstance(value, dict):
        raise _Wrong(f"{name} must be a table: [{name}]")
    return value


def _times(content: dict[str, Any], name: str, zone: tzinfo) -> dict[str, datetime]:
    table = _table(content, name)
    return {folder: _time(table[word], zone, f"{name}.{word}") for folder, word in _by_exercise(table, name).items()}


def _time(value: Any, zone: tzinfo, location: str) -> datetime:
    """A time of the course. A date alone means the end of that day."""
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime.combine(value, time.max)
    if not isinstance(value, datetime):
        raise _Wrong(f"{location} must be a time, without quotes: 2026-11-20T23:59:00")
    return value if value.tzinfo else value.replace(tzinfo=zone)


def _zone(name: Any) -> tzinfo:
    if name == "UTC":
        return timezone.utc
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, TypeError, OSError):
        raise _Wrong(f'timezone knows no {label(str(name))}. Write "UTC", or such as "Europe/Berlin"') from None


def _exercise(text: str) -> str:
    try:
        return catalog.find(text).folder
    except catalog.NoSuchExercise:
        raise _Wrong(f"there is no exercise {label(text)}. See them: make list") from None


def _by_exercise(table: dict[str, Any], name: str) -> dict[str, str]:
    """The word by which a table names an exercise, by its folder. Raises where two words mean the same one."""
    keys: dict[str, str] = {}
    for key in table:
        folder = _exercise(key)
        if folder in keys:
            raise _Wrong(f"{name} names {folder} twice: keep one line")
        keys[folder] = key
    return keys


def _column(title: str, value: Any) -> tuple[str, ...]:
    words = value if isinstance(value, list) else [value]
    if words == [TOTAL]:
        return (TOTAL,)
    if not words or not all(isinstance(word, str) for word in words):
        raise _Wrong(f'columns."{label(title)}" must name an exercise, several in brackets, or "{TOTAL}"')
    return tuple(map(_exercise, words))


def _number(
    table: dict[str, Any], name: str, default: float, maximum: float = math.inf, is_whole: bool = False
) -> float:
    value = table.get(name, default)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= maximum or (is_whole and value != int(value)):
        end = f" and at most {maximum:g}" if maximum < math.inf else ""
        raise _Wrong(f"{name} must be a {'whole ' * is_whole}number, at least 0{end}")
    return value


def _text(table: dict[str, Any], name: str) -> str:
    value = table.get(name, "")
    if not isinstance(value, str):
        raise _Wrong(f"{name} must be a text in quotes")
    return value


def _one_of(table: dict[str, Any], name: str, choices: tuple[Any, ...]) -> Any:
    value = table.get(name, choices[0])
    if value not in choices:
        raise _Wrong(
            f"{name} must be one of: {', '.join(str(choice).lower() for choice in choices if choice is not None)}"
        )
    return value
