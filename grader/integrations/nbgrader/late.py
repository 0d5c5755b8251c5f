"""The late rule of course.toml for nbgrader: the deadline in its gradebook, and the penalty that it assigns."""

from datetime import timezone
from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.apps import AutogradeApp
from nbgrader.plugins import BasePlugin
from traitlets import Unicode

from grader.catalog.errors import WrongUse
from grader.classroom.course import settings
from grader.classroom.course.lateness import lateness, share
from grader.classroom.course.settings import Course


class CourseLateness(BasePlugin):
    """Assigns the penalties of course.toml. nbgrader asks only for who is later than the deadline in its gradebook."""

    rules = Unicode("course.toml", help="The file with the rules of the course").tag(config=True)

    def late_submission_penalty(self, student_id: str, score: float, total_seconds_late: float) -> float | None:
        """The points that a submission loses; None where the course has no rules. Extensions of course.toml count."""
        if not Path(self.rules).exists():
            return None
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


def set_deadline(app: AutogradeApp, course: Course) -> None:
    """Write the course's deadline into the gradebook, where course.toml has one for the assignment."""
    name = app.coursedir.assignment_id
    deadline = course.deadlines.get(name)
    if deadline is None:
        return
    with Gradebook(app.coursedir.db_url, app.coursedir.course_id) as gradebook:
        assignment = gradebook.find_assignment(name)
        assignment.duedate = deadline.astimezone(timezone.utc).replace(tzinfo=None)
        gradebook.db.commit()
