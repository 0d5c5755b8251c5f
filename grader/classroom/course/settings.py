"""The rules of a course as plain data: deadlines, lateness, attempts, weights. `rules_file` reads them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone, tzinfo
from pathlib import Path

NAME = "course.toml"
UNIT_S = {"day": 86_400, "hour": 3_600}
LATEST, BEST = "latest", "best"
TOTAL = "total"


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


Times = Mapping[str, datetime]  # by the folder of the exercise


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
