"""A brake for guessers: how many graded attempts a student has, and how long to wait between two. Off by default.

Who comes too early, or too often, is not graded and keeps the mark of the last graded attempt.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

MINUTE_S, HOUR_S = 60, 3600


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
                f"Not graded: your last graded attempt was at {_time(max(graded))}, and the next one can come from "
                f"{_time(self._from(graded))} on. You keep the mark of your last graded attempt until then."
            )
        return ""

    def standing(self, graded: Sequence[datetime]) -> str:
        """What a student reads beside a graded attempt. graded: when attempts were graded, this one too."""
        count = f"Graded attempt {len(graded)} of {self.attempts}." if self.attempts else ""
        is_last = self.attempts and len(graded) >= self.attempts
        then = f"The next one can come from {_time(self._from(graded))} on." if self.wait_s and not is_last else ""
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


def _time(time: datetime) -> str:
    """A time to the minute, rounded up, so that nobody comes too early."""
    utc = time.astimezone(timezone.utc)
    rounded = utc + timedelta(seconds=-utc.second % MINUTE_S if not utc.microsecond else MINUTE_S - utc.second)
    return f"{rounded:%Y-%m-%d %H:%M} UTC"
