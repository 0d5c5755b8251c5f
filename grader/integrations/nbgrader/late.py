"""The late rule of course.toml for nbgrader: the deadline in its gradebook, and the penalty that it assigns."""

from datetime import timezone
from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.apps import AutogradeApp
from nbgrader.plugins import LateSubmissionPlugin
from traitlets import Unicode

from grader.catalog.errors import WrongUse
from grader.classroom.course import settings
from grader.classroom.course.lateness import lateness, share
from grader.classroom.course.settings import Course


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
            course = settings.read(Path(self.rules))
        except WrongUse as error:
            self.log.error("%s", error)
            raise
        step = self.parent  # nbgrader's AssignLatePenalties, which has the gradebook open
        submission = step.gradebook.find_submission(step.assignment_id, student_id)
        handed_in = submission.timestamp.replace(tzinfo=timezone.utc)
        exercise = step.notebook_id
        deadline = course.deadline(student_id, "", exercise) or submission.duedate.replace(tzinfo=timezone.utc)
        late = lateness(course.late, handed_in, False, deadline, course.last(student_id, "", exercise))
        penalty: float = round(score * (1 - share(course.late, late)), 6)
        return penalty


def use(app: AutogradeApp, course: Course) -> None:
    """Have these rules hold: the penalties, and the deadline in the gradebook, where the course has one."""
    if course.path is not None:
        app.config.CourseLateness.rules = str(course.path.resolve())
    name = app.coursedir.assignment_id
    deadline = course.deadlines.get(name)
    if deadline is None:
        return
    with Gradebook(app.coursedir.db_url, app.coursedir.course_id) as gradebook:
        assignment = gradebook.find_assignment(name)
        assignment.duedate = deadline.astimezone(timezone.utc).replace(tzinfo=None)
        gradebook.db.commit()
