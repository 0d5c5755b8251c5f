"""The lines that students' feedback names: found with the documented checks alone, by the same work for each student.

A line that depends on a hidden check could carry a value of it out, as a student's code decides which changes mend it.
"""

from grader.judge.examiner import Examiner
from grader.judge.where import search
from grader.records.results import FAILED, ExerciseResult
from grader.records.submission import Submission

WORK = 150  # for one search, where a learner's own desk takes search.WORK: many are graded one after the other


def with_lines(examiner: Examiner, submission: Submission, result: ExerciseResult) -> ExerciseResult:
    """The result with the lines of its failed documented checks, as examiner.grade_all's `completed`."""
    if result.status != FAILED:
        return result
    return search.located(examiner, submission, result, WORK, documented=True)
