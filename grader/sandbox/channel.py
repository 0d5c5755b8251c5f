"""Requests to the worker of one submission, within the limits of the exercise."""

import time
from dataclasses import replace

from grader.catalog.limits import Limits
from grader.records.submission import Submission
from grader.sandbox.call_results import LearnerError
from grader.sandbox.forkserver import ForkServer
from grader.sandbox.replies import ReplyReader
from grader.sandbox.worker_handle import TimedOut, Worker, WorkerEnded
from grader.worker import protocol, wire
from grader.worker.protocol import Reply, Request
from grader.worker.wire import RawTensor

LOADING = (protocol.Load, protocol.Step)
NO_REPLY = (TimedOut, WorkerEnded, wire.ProtocolError)
LEAST_CPU_S = 0.25  # for one call, however many calls did not end before
MAX_OUTPUT = 20_000  # characters of prints that are kept of a whole submission
MAX_RECEIVED = 64 << 20  # bytes of all replies about a submission; those of right code are below 0.3 MB


class Channel:
    """The worker of one submission, and what its code has used so far: seconds, bytes of replies, prints.

    hung: the functions that did not end, and after how many seconds they were stopped.
    """

    def __init__(self, fork_server: ForkServer, submission: Submission, name: str, limits: Limits):
        self.fork_server, self.submission, self.name, self.limits = fork_server, submission, name, limits
        self.worker: Worker | None = None
        self.output, self.output_of_load, self.spent, self.received = "", "", 0.0, 0
        self.hung: dict[str, float] = {}
        self.reader = ReplyReader(submission)
        self.words = self.reader.words

    def spawn(self) -> Worker:
        """A new worker. Each function that did not end halves the time of a call: often all of them run one loop."""
        limit_s = self.limits.call_cpu_s
        if not self.hung or limit_s is None:
            return self.fork_server.spawn(self.limits)
        call_cpu_s = max(limit_s / 2 ** len(self.hung), min(LEAST_CPU_S, limit_s))
        return self.fork_server.spawn(replace(self.limits, call_cpu_s=call_cpu_s))

    def asking(self, function: str) -> "Asking":
        """The context of one request, which calls `function`; see Asking."""
        return Asking(self, function)

    def read(self, request: Request, body: bytes | bytearray) -> tuple[Reply, list[RawTensor]]:
        """The reply in a body, and its tensors. Its prints are kept. Raises LearnerError where it is malformed."""
        try:
            reply, tensors = self.reader.read(body)
        except wire.ProtocolError as error:
            self.close()
            raise LearnerError("protocol", {"message": str(error)}) from None
        if len(self.output) < MAX_OUTPUT:
            self.output += reply.output
            self.output_of_load += reply.output if type(request) in LOADING else ""
        return reply, tensors

    def seconds_left(self) -> float:
        """The time that the next call may take. Raises LearnerError where none is left."""
        remaining_s = self.limits.total_s - self.spent
        if remaining_s <= 0:
            raise LearnerError("timeout", {"seconds": self.limits.total_s, "in_all": True})
        return min(self.limits.call_s, remaining_s)

    def count(self, size: int) -> None:
        """Count the bytes of a reply, which is kept. Raises LearnerError where the sum of all is too large."""
        self.received += size
        if self.received > MAX_RECEIVED:
            self.close()
            raise LearnerError("protocol", {"message": "the results are too large in all"})

    def close(self) -> None:
        """End the worker."""
        if self.worker is not None:
            self.worker.close()

    def why_no_reply(self, error: BaseException, function: str) -> LearnerError:
        """The error for a request without a reply. function: that which it called, whose time limit is noted."""
        if isinstance(error, TimedOut):
            # The message names the same limit, whichever was reached, so that a file always gets the same message.
            limits = self.worker.limits if self.worker is not None else self.limits
            self.hung[function] = limits.call_cpu_s or limits.call_s
            return LearnerError("timeout", {"seconds": self.hung[function]})
        if isinstance(error, WorkerEnded):
            return LearnerError("ended", {"status": error.status})
        return LearnerError("protocol", {"message": str(error)})


class Asking:
    """The context of one request: counts its time, and raises LearnerError where there is no reply to it.

    Entering gives the seconds that the request may take, and raises LearnerError where none are left. `Lost` passes. It
    is a class, since a generator would put two more frames between an exception and the check.
    """

    def __init__(self, channel: Channel, function: str) -> None:
        self.channel, self.function = channel, function

    def __enter__(self) -> float:
        self.began = time.monotonic()
        return self.channel.seconds_left()

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        self.channel.spent += time.monotonic() - self.began
        if isinstance(error, NO_REPLY):
            raise self.channel.why_no_reply(error, self.function) from None
