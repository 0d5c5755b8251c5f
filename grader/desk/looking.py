"""What the learner's file holds now, seen through the ways in which editors save.

Some write in pieces, some write another file and rename it, some delete the old one first. So what is absent, empty
or broken is given a moment before it is believed. A piece that happens to be right Python is graded, and its verdict
is replaced by that on the rest.
"""

import time
from dataclasses import dataclass

from grader import paths, submission
from grader.catalog import Exercise
from grader.syntax import parsed

PATIENCE_S = 0.12


@dataclass(frozen=True)
class Look:
    """What the file holds: a submission, or the words why there is none."""

    handed_in: submission.Submission | str
    is_there: bool = True

    @property
    def may_be_half(self) -> bool:
        return isinstance(self.handed_in, str) or parsed(self.handed_in.source) is None


class Eye:
    """Watches one exercise's file. `seen`: the last look that was believed; `doubts`: whether one waits for belief."""

    def __init__(self, exercise: Exercise):
        self.path = paths.stub(exercise.folder)
        self.seen: Look | None = None
        self.doubtful: tuple[float, Look] | None = None

    @property
    def doubts(self) -> bool:
        return self.doubtful is not None

    def look(self, patient: bool = True) -> Look | None:
        """What is new in the file, or None. patient: give what may be half-written a moment."""
        look = read(self.path)
        if look == self.seen:
            self.doubtful = None
            return None
        now = time.monotonic()
        if patient and look.may_be_half:
            if self.doubtful is None or self.doubtful[1] != look:
                self.doubtful = now, look
            if now - self.doubtful[0] < PATIENCE_S:
                return None
        self.seen, self.doubtful = look, None
        return look


def read(path) -> Look:
    try:
        return Look(submission.read(path))
    except submission.BadSubmission as error:
        return Look(str(error))
    except submission.NoSuchFile as error:
        return Look(str(error), is_there=False)
