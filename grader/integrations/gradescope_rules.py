"""The rules of a course on Gradescope: lateness, overrides and weights for one submission.

/autograder/submission_metadata.json tells who handed in, when, and until when they might
(https://gradescope-autograders.readthedocs.io/en/latest/submission_metadata/). Which attempt counts is Gradescope's own
setting.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from grader.classroom.course import overrides as given_points
from grader.classroom.course import rules_file, totals
from grader.classroom.course.lateness import Lateness, lateness, share
from grader.classroom.course.overrides import Override
from grader.classroom.course.settings import Course
from grader.integrations.one_student import Graded
from grader.records.results import ExerciseResult

MAX_BYTES = 16 << 20  # of Gradescope's metadata


@dataclass(frozen=True)
class Ruled:
    """The rules for one submission.

    submitters: ids and e-mail addresses of those who handed in; due: Gradescope's date.
    """

    course: Course | None = None
    overrides: tuple[Override, ...] = ()
    submitters: tuple[str, ...] = ()
    handed_in: datetime | None = None
    due: datetime | None = None

    def applied(self, graded: Graded) -> tuple[Graded, float | None, list[str]]:
        """The results with overridden checks, the score (None: the sum of the tests), and lines about both."""
        if self.course is None:
            return graded, None, []
        own_overrides = [override for override in self.overrides if override.student in self.submitters]
        results = []
        points: list[float | None] = []
        lines: list[str] = []
        for exercise, result in graded.results:
            exercise_overrides = [override for override in own_overrides if override.exercise == exercise.folder]
            late = self._late(exercise.folder)
            if result is not None:
                result = given_points.applied(result, exercise_overrides)
            results.append((exercise, result))
            points.append(self._points(result, exercise_overrides, late))
            remarks = [*(override.words for override in exercise_overrides), late.words if result is not None else ""]
            lines += [f"{exercise.folder}: {text}" for text in remarks if text]
        folders, max_points = [e.folder for e, _ in results], [e.max_points for e, _ in results]
        rule = totals.TotalRule(self.course.weights, self.course.drop_lowest)
        return replace(graded, results=tuple(results)), totals.total(folders, points, max_points, rule), lines

    def _late(self, exercise: str) -> Lateness:
        """The lateness of the submission for an exercise, by course.toml, else by Gradescope's date."""
        assert self.course is not None
        extended_names = [name for name in self.submitters if exercise in self.course.extensions.get(name, {})]
        extended_name = extended_names[0] if extended_names else ""
        deadline = self.course.deadline(extended_name, "", exercise) or self.due
        return lateness(
            self.course.late, self.handed_in, False, deadline, self.course.last(extended_name, "", exercise)
        )

    def _points(
        self, result: ExerciseResult | None, exercise_overrides: list[Override], late: Lateness
    ) -> float | None:
        """The points of an exercise. An override of the whole exercise counts as it is."""
        assert self.course is not None
        whole_points = [override.points for override in exercise_overrides if not override.check]
        if whole_points:
            return whole_points[-1]
        return round(result.points * share(self.course.late, late), 6) if result is not None else None


NO_RULES = Ruled()


def read(rules: Path, metadata: Path) -> Ruled:
    """The rules for the submission that this metadata tells of. Raises WrongUse for a wrong course.toml."""
    course, facts = rules_file.read(rules), _facts(metadata)
    users = [user for user in facts.get("users") or [] if isinstance(user, dict)]
    identities = tuple(str(user[key]) for user in users for key in ("sid", "email", "id") if user.get(key))
    own_due_dates = [_time((user.get("assignment") or {}).get("due_date")) for user in users]
    due = next((time for time in own_due_dates if time), None) or _time((facts.get("assignment") or {}).get("due_date"))
    overridden = given_points.read(rules.with_name(given_points.NAME))
    return Ruled(course, overridden, identities, _time(facts.get("created_at")), due)


def _facts(metadata: Path) -> Mapping[str, Any]:
    """Gradescope's metadata; {} where there is none, as in a try without Gradescope."""
    try:
        with metadata.open("rb") as file:
            content = json.loads(file.read(MAX_BYTES))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _time(text: Any) -> datetime | None:
    """ "2018-07-01T14:22:32.365935-07:00" as a time."""
    try:
        time = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return time if time.tzinfo else None
