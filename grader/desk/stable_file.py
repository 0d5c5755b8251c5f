"""Reads the learner's file while an editor may be saving it.

Some editors write in pieces, some write another file and rename it, some delete the old one first. So content that is
absent, empty or broken is accepted only once it has been stable for a moment. A piece that happens to be valid Python
is graded, and its verdict is replaced by that on the complete file.
"""

import time
from dataclasses import dataclass
from pathlib import Path

from grader.catalog import Exercise, paths
from grader.catalog.errors import BadSubmission, NoSuchFile
from grader.records import submission
from grader.records.source import parses
from grader.records.submission import Submission

SETTLE_S = 0.12  # seconds for which doubtful content must be stable


@dataclass(frozen=True)
class Content:
    """The content of the file: a submission, or the reason why there is none."""

    submission: Submission | str
    is_there: bool = True

    @property
    def may_be_partial(self) -> bool:
        """Whether an editor may still be writing this content."""
        try:
            return isinstance(self.submission, str) or not parses(self.submission.source)
        except BadSubmission:
            return False


class StableFile:
    """The file of one exercise.

    accepted: the content that was accepted last; doubtful: content that must still prove stable, and since when it is
    there (seconds of time.monotonic).
    """

    def __init__(self, exercise: Exercise) -> None:
        self.path = paths.stub(exercise.folder)
        self.accepted: Content | None = None
        self.doubtful: tuple[float, Content] | None = None

    @property
    def source(self) -> str:
        """The code of the accepted content, "" where there is none."""
        submitted = self.accepted.submission if self.accepted else ""
        return submitted if isinstance(submitted, str) else submitted.source

    @property
    def is_settling(self) -> bool:
        """Whether doubtful content is waiting to be accepted."""
        return self.doubtful is not None

    def read_new(self, settle: bool = True) -> Content | None:
        """New content of the file, or None. settle: wait until content that may be partial is stable."""
        content = read(self.path)
        if content == self.accepted:
            self.doubtful = None
            return None
        now = time.monotonic()
        if settle and content.may_be_partial:
            if self.doubtful is None or self.doubtful[1] != content:
                self.doubtful = now, content
            if now - self.doubtful[0] < SETTLE_S:
                return None
        self.accepted, self.doubtful = content, None
        return content


def read(path: Path) -> Content:
    """The present content of a file."""
    try:
        return Content(submission.read(path))
    except BadSubmission as error:
        return Content(str(error))
    except NoSuchFile as error:
        return Content(str(error), is_there=False)
