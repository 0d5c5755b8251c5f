"""The lateness of a hand-in and its cost: pure functions of times and of the course's rule."""

import math
from dataclasses import dataclass
from datetime import datetime, timezone

from grader.classroom.course.settings import UNIT_S, LateRule


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


def _units(rule: LateRule, handed_in: datetime, deadline: datetime) -> int:
    """Begun units after the deadline; none within the grace, which then does not shorten the delay."""
    # In UTC: between two times of one zone Python counts hours of the clock, also where the clock was changed.
    seconds = (handed_in.astimezone(timezone.utc) - deadline.astimezone(timezone.utc)).total_seconds()
    return math.ceil(seconds / UNIT_S[rule.per]) if seconds > rule.grace_s else 0
