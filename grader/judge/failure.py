"""A failed check."""

from dataclasses import dataclass

from grader.judge.collection import Check
from grader.sandbox.call_results import Call, LearnerError


@dataclass(frozen=True)
class Failure:
    """A check that failed, the error, and the calls that led to it."""

    check: Check
    error: BaseException
    calls: list[Call]

    @property
    def is_not_started(self) -> bool:
        """Whether the learner's code still raises NotImplementedError."""
        return isinstance(self.error, LearnerError) and self.error.is_not_started
