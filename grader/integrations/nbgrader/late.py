"""The late rule of course.toml for nbgrader: the deadline in its gradebook, and the penalty that it assigns."""

import functools
from datetime import datetime, timezone
from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.apps import AutogradeApp
from nbgrader.plugins import LateSubmissionPlugin
from traitlets import Unicode

from grader.catalog.errors import WrongUse
from grader.classroom import arrivals, course_rules, marking
from grader.classroom.course_rules import Course
from grader.classroom.marking import lateness, share
from grader.classroom.roster import reading


class CourseLateness(LateSubmissionPlugin):
    """Assigns the penalties of course.toml; where there is none, nbgrader's own.

    nbgrader asks only for who is later than the deadline in its gradebook.
    """

    rules = Unicode("course.toml", help="The file with the rules of the course").tag(config=True)

    def late_submission_penalty(self, student_id: str, score: float, total_seconds_late: float) -> float | None:
        """The points that a submission loses; None where it loses none. Extensions of course.toml count."""
        if not Path(self.rules).exists():
            own: float | None = super().late_submission_penalty(student_id, score, total_seconds_late)
            return own
        try:
            course = course_rules.read_rules(Path(self.rules))
        except WrongUse as error:
            self.log.error("%s", error)
            raise
        step = self.parent  # nbgrader's AssignLatePenalties, which has the gradebook open
        exercise = step.notebook_id
        if _is_set_by_hand(Path(self.rules), student_id, exercise):
            return None
        submission = step.gradebook.find_submission(step.assignment_id, student_id)
        handed_in_times = arrivals.read_handed_in(Path(self.rules).with_name(arrivals.HANDED_IN), course.zone)
        handed_in = handed_in_times.get((student_id, exercise)) or submission.timestamp.replace(tzinfo=timezone.utc)
        section = _section(course, student_id)
        deadline, end = course.deadline(student_id, section, exercise), course.last(student_id, section, exercise)
        if deadline is None and not _first_deadline(course, exercise):  # the one in the gradebook is a person's
            deadline = submission.duedate.replace(tzinfo=timezone.utc)
        late = lateness(course.late, handed_in, False, deadline, end)
        return round(score * (1 - share(course.late, late)), 6) or None


def use(app: AutogradeApp, course: Course) -> None:
    """Have these rules hold: the penalties, and the deadline in the gradebook, where the course has one.

    That is the earliest of all, since nbgrader asks for penalties from then on; each student's own is looked up then.
    """
    if course.path is not None:
        app.config.CourseLateness.rules = str(course.path.resolve())
    name = app.coursedir.assignment_id
    deadline = _first_deadline(course, name)
    if deadline is None:
        return
    with Gradebook(app.coursedir.db_url, app.coursedir.course_id) as gradebook:
        assignment = gradebook.find_assignment(name)
        assignment.duedate = deadline.astimezone(timezone.utc).replace(tzinfo=None)
        gradebook.db.commit()


def _first_deadline(course: Course, exercise: str) -> datetime | None:
    """The earliest time from which a hand-in of somebody may lose points; None where the course names none."""
    times = [course.deadlines, course.cut_off, *(table for section in course.sections.values() for table in section)]
    return min((table[exercise] for table in times if exercise in table), default=None)


def _is_set_by_hand(rules: Path, student: str, exercise: str) -> bool:
    """Whether a person gave points for the whole exercise: they count as they are, however late it came."""
    overridden = marking.read_overrides(rules.with_name(marking.OVERRIDES))
    return any(
        (override.student, override.exercise, override.check) == (student, exercise, "") for override in overridden
    )


def _section(course: Course, student: str) -> str:
    """The student's section, by the roster that course.toml names; "" where there is none."""
    if course.roster is None or not course.sections:
        return ""
    changed = course.roster.stat().st_mtime_ns if course.roster.exists() else 0
    return _sections(course.roster, tuple(course.titles.items()), changed).get(student, "")


@functools.lru_cache(maxsize=1)  # nbgrader asks for one student at a time
def _sections(roster: Path, titles: tuple[tuple[str, str], ...], changed: int) -> dict[str, str]:
    """Student's id → section. titles: of its columns, in English; changed: when the file was."""
    return {person.id: person.sections for person in reading.read_roster(roster, dict(titles)).people}
