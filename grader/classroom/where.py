"""The lines that students' feedback tells: found with the documented checks alone, in a part of the time of the class.

A line that depends on a hidden check could carry a value of it out, as a student's code decides which changes mend it.
"""

import time
from dataclasses import dataclass

from grader.judge.examiner import Examiner
from grader.judge.where import search
from grader.records.results import FAILED, ExerciseResult
from grader.records.submission import Submission

SHARE = 0.5  # of the time that grading takes
LEAST_S = 0.2  # for one search: in less none is begun


@dataclass
class Allowance:
    """Adds lines to the results of one grading process, as examiner.grade_all's `completed`, while there is time.

    seconds: the time that searches may take now. Each grading adds its share, and a search that took longer than it
    should have shortens the next, so that all searches together keep to their share of all gradings.
    """

    seconds: float

    @classmethod
    def since(cls, started: float) -> "Allowance":
        """The allowance that the start of this process earns. started: a value of time.monotonic()."""
        return cls(SHARE * (time.monotonic() - started))

    def completed(self, examiner: Examiner, submission: Submission, result: ExerciseResult) -> ExerciseResult:
        """The result with the lines of its failed documented checks."""
        self.seconds += SHARE * result.duration_s
        if result.status != FAILED or self.seconds < LEAST_S:
            return result
        began = time.monotonic()
        with_lines = search.located(examiner, submission, result, min(self.seconds, search.SECONDS), documented=True)
        self.seconds -= time.monotonic() - began
        return with_lines
