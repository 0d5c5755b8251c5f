"""What answers requests about one source."""

from typing import Protocol

from grader.records.source import SourceWords
from grader.worker.protocol import Reply, Request
from grader.worker.wire import RawTensor


class Connection(Protocol):
    """A source that answers requests: a submission in a worker (Remote), or one of ours in this process (Local)."""

    source: str
    words: SourceWords  # what the source confirms

    @property
    def is_alive(self) -> bool:
        """Whether a request would be answered without a new process."""

    def exchange(self, request: Request, tensors: list[RawTensor], function: str = "") -> tuple[Reply, list[RawTensor]]:
        """The reply to one request, and its tensors. function: the one that is called.

        Raises LearnerError where there is no reply, and Lost where the fork server is gone.
        """
