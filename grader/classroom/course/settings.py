"""course.toml: the rules of a course, read and checked."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time, timezone, tzinfo
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from grader import catalog
from grader.catalog import tomllib
from grader.catalog.errors import WrongUse
from grader.records.sanitize import label
from grader.reports.html import LEVELS

NAME = "course.toml"
UNIT_S = {"day": 86_400, "hour": 3_600}
LATEST, BEST = "latest", "best"
TOTAL = "total"
KEYS = {
    "": ("timezone", "roster", "feedback", "release", "anonymous", "attempts", "drop_lowest", "late", "deadlines",
         "cut_off", "extensions", "weights", "sections", "columns"),
    "[late]": ("per", "percent", "cap", "grace_minutes", "unknown"),
    "[sections]": ("deadlines", "cut_off"),
}  # fmt: skip


@dataclass(frozen=True)
class LateRule:
    """What a late hand-in costs: `percent` of its points for each begun `per` ("day", "hour"), at most `cap` percent.

    grace_s: seconds after the deadline that cost nothing; unknown: the units where only the platform's mark says late.
    """

    per: str = "day"
    percent: float = 0.0
    cap: float = 100.0
    grace_s: float = 0.0
    unknown: int = 1


Times = Mapping[str, datetime]  # by the folder of the exercise


@dataclass(frozen=True)
class Course:
    """The rules of a course. Without a file these defaults hold: no deadline, the latest attempt, the plain sum.

    extensions: by student's id, then exercise; sections: the deadlines and cut-offs of each; columns: of the roster's
    file, by title, the exercises whose points they hold, or (TOTAL,).
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

    def deadline(self, student: str, section: str, exercise: str) -> datetime | None:
        """Until when this student may hand in: the extension, else the section's deadline, else the course's."""
        extension = self.extensions.get(student, {}).get(exercise)
        return extension or self.sections.get(section, ({}, {}))[0].get(exercise) or self.deadlines.get(exercise)

    def last(self, student: str, section: str, exercise: str) -> datetime | None:
        """From when on nothing counts. An extension moves it where it would end before."""
        end = self.sections.get(section, ({}, {}))[1].get(exercise) or self.cut_off.get(exercise)
        extension = self.extensions.get(student, {}).get(exercise)
        return max(end, extension) if end and extension else end


def read(path: Path) -> Course:
    """The rules in a file. Raises WrongUse where it cannot be read, or holds what is no rule."""
    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise WrongUse(f"{path} cannot be read: {error.strerror}. Make one: make course") from None
    except (ValueError, UnicodeDecodeError) as error:  # tomllib's own error is a ValueError
        raise WrongUse(f"{path} is no TOML: {error}") from None
    try:
        return _course(path, content)
    except _Wrong as error:
        raise WrongUse(f"{path}: {error}") from None


class _Wrong(ValueError):
    """What is wrong in the file."""


def _course(path: Path, content: dict[str, Any]) -> Course:
    _demand_keys(content, "")
    zone = _zone(content.get("timezone", "UTC"))
    roster = _text(content, "roster")
    sections = {}
    for name, section in _table(content, "sections").items():
        _demand_keys(section, "[sections]", f"sections.{name}")
        sections[name] = (_times(section, "deadlines", zone), _times(section, "cut_off", zone))
    extensions = _table(content, "extensions")
    return Course(
        path,
        zone,
        path.parent / roster if roster else None,
        _one_of(content, "feedback", (None, *LEVELS)),
        _time(content["release"], zone, "release") if "release" in content else None,
        _one_of(content, "anonymous", (False, True)),
        _one_of(content, "attempts", (LATEST, BEST)),
        int(_number(content, "drop_lowest", 0, whole=True)),
        _late(_table(content, "late")),
        _times(content, "deadlines", zone),
        _times(content, "cut_off", zone),
        {student: _times(extensions, student, zone) for student in extensions},
        {_exercise(word): _number(_table(content, "weights"), word, 1) for word in _table(content, "weights")},
        sections,
        {title: _column(title, what) for title, what in _table(content, "columns").items()},
    )


def _late(table: dict[str, Any]) -> LateRule:
    _demand_keys(table, "[late]")
    per = _one_of(table, "per", tuple(UNIT_S))
    grace_s = 60 * _number(table, "grace_minutes", 0)
    unknown = int(_number(table, "unknown", 1, whole=True))
    percent, cap = _number(table, "percent", 0, 100), _number(table, "cap", 100, 100)
    return LateRule(per, percent, cap, grace_s, unknown)


def _demand_keys(table: Any, kind: str, where: str = "") -> None:
    """Raise where a table holds what is no rule, so that a misspelt one is not silently without effect."""
    where = where or kind.strip("[]")
    if not isinstance(table, dict):
        raise _Wrong(f"{where} must be a table")
    for key in table:
        if key not in KEYS[kind]:
            raise _Wrong(f"{where or 'the file'} knows no {label(key)}. It knows: {', '.join(KEYS[kind])}")


def _table(content: dict[str, Any], name: str) -> dict[str, Any]:
    value = content.get(name, {})
    if not isinstance(value, dict):
        raise _Wrong(f"{name} must be a table: [{name}]")
    return value


def _times(content: dict[str, Any], name: str, zone: tzinfo) -> dict[str, datetime]:
    return {_exercise(word): _time(value, zone, f"{name}.{word}") for word, value in _table(content, name).items()}


def _time(value: Any, zone: tzinfo, where: str) -> datetime:
    """A time of the course. A date alone means the end of that day."""
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime.combine(value, time(23, 59, 59))
    if not isinstance(value, datetime):
        raise _Wrong(f"{where} must be a time, without quotes: 2026-11-20T23:59:00")
    return value if value.tzinfo else value.replace(tzinfo=zone)


def _zone(name: Any) -> tzinfo:
    if name == "UTC":
        return timezone.utc
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, TypeError, OSError):
        raise _Wrong(f'timezone knows no {label(str(name))}. Write "UTC", or such as "Europe/Berlin"') from None


def _exercise(word: str) -> str:
    try:
        return catalog.find(word).folder
    except catalog.NoSuchExercise:
        raise _Wrong(f"there is no exercise {label(word)}. See them: make list") from None


def _column(title: str, what: Any) -> tuple[str, ...]:
    words = what if isinstance(what, list) else [what]
    if words == [TOTAL]:
        return (TOTAL,)
    if not words or not all(isinstance(word, str) for word in words):
        raise _Wrong(f'columns."{label(title)}" must name an exercise, several in brackets, or "{TOTAL}"')
    return tuple(map(_exercise, words))


def _number(table: dict[str, Any], name: str, default: float, most: float = math.inf, whole: bool = False) -> float:
    value = table.get(name, default)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= most or (whole and value != int(value)):
        end = f" and at most {most:g}" if most < math.inf else ""
        raise _Wrong(f"{name} must be a {'whole ' * whole}number, at least 0{end}")
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
