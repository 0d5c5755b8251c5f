"""A submission in a sandboxed worker, as a proxy asks it: one request at a time, ahead of a check, or measured."""

import contextlib
import time
from collections.abc import Iterator
from dataclasses import replace

from grader.catalog import Forbidden
from grader.catalog.limits import Limits
from grader.records.submission import Submission
from grader.sandbox.call_results import LearnerError
from grader.sandbox.channel import MAX_RECEIVED, NO_REPLY
from grader.sandbox.forkserver import ForkServer
from grader.sandbox.loaded_channel import LoadedChannel
from grader.sandbox.memory import Meter
from grader.sandbox.transcript import Transcript
from grader.worker import protocol
from grader.worker.protocol import Reply, Request
from grader.worker.wire import RawTensor

BUSY = 4.0  # wall-clock time that a measured call may take, as a multiple of its processor time


class Remote(LoadedChannel):
    """A submission in a sandboxed worker. A worker that died is replaced before the next check."""

    def __init__(self, fork_server: ForkServer, submission: Submission, name: str, limits: Limits):
        super().__init__(fork_server, submission, name, limits)
        self.hung_when_measured: dict[str, float] = {}  # kept apart from `hung`: measured calls have large inputs
        self.ahead = Transcript()  # the requests that were sent before the check made them
        self.asked_live = False  # whether the check has made another request since
        self._without: Remote | None = None

    @property
    def is_alive(self) -> bool:
        """Whether a request would be answered without a new worker."""
        return not self.ahead.is_read or (self.worker is not None and self.worker.alive)

    def exchange(self, request: Request, tensors: list[RawTensor], function: str = "") -> tuple[Reply, list[RawTensor]]:
        """The reply to one request, and its tensors.

        Raises LearnerError where there is no reply, Diverged where another request was sent ahead in its place, and
        Lost where the fork server is gone.
        """
        body = protocol.encode_request(request, tensors)
        if not self.ahead.is_read:
            return self.read(request, self.ahead.read(body))
        self.asked_live = True
        self.count(0)
        if hung := self.hung_in(function):
            raise LearnerError("timeout", {"seconds": self.hung[hung], "again": True})
        if not self.is_alive:
            self.load()
        assert self.worker is not None, "load first"
        with self.asking(function) as seconds:
            reply = self.worker.exchange(body, seconds, self.worker.limits.call_cpu_s)
        self.count(len(reply))
        return self.read(request, reply)

    def without_ready_made(self, rule: Forbidden) -> "Remote":
        """The same submission in a worker that has none of the ready-made functions that a rule forbids."""
        fork_server = self.fork_server.without_ready_made(rule)
        if self._without is None or self._without.fork_server is not fork_server:
            self._close_without()
            self._without = Remote(fork_server, self.submission, self.name, self.limits)
        return self._without

    def hung_in(self, function: str) -> str:
        """The function that did not end and would be called again, as this one or by what it uses; "" for none."""
        if function in self.hung or not self.hung:
            return function if function in self.hung else ""
        used_names = self.words.uses(function.partition(".")[0])
        others = (hung for hung in self.hung if hung.partition(".")[0] != function.partition(".")[0])
        return next((hung for hung in others if hung.partition(".")[0] in used_names), "")

    @contextlib.contextmanager
    def measured(self, memory_mb: int, rule: Forbidden | None = None) -> Iterator[Meter]:
        """Within the block another worker answers, whose memory is measured from its first moment.

        memory_mb: all the memory that it is given. It has none of the usual worker's objects, and none of the functions
        that a rule forbids. Raises LearnerError where the source cannot be loaded.
        """
        usual = self.worker, self.limits, self.hung, self.output, self.output_of_load
        spent = self.spent  # a measured call has a limit of its own, and takes nothing from the time of the others
        seconds = self.limits.measured_s
        call_s = max(BUSY * seconds, self.limits.call_s)
        self.limits = replace(
            self.limits,
            measured=True,
            memory_mb=memory_mb if self.limits.memory_mb else None,
            call_s=call_s,
            call_cpu_s=seconds,
            total_s=self.spent + call_s,
            cpu_s=max(int(2 * seconds), 1),
        )
        self.hung = self.hung | self.hung_when_measured
        fork_server = self.fork_server if rule is None else self.fork_server.without_ready_made(rule)
        self.worker = fork_server.spawn(self.limits)
        try:
            self.worker.meter = meter = Meter(self.worker.pid)
            self.run_source()
            self.output, self.output_of_load = usual[3:]  # what loading prints was kept already
            yield meter
        finally:
            self.close()
            self.hung_when_measured = {name: seconds for name, seconds in self.hung.items() if name not in usual[2]}
            self.worker, self.limits, self.hung = usual[:3]
            self.spent = spent

    def ask_ahead(self, requests: list[bytes], held: frozenset[int] = frozenset()) -> list[bytearray] | None:
        """Send all requests of a check before it runs. Returns the encoded replies, None if one is missing.

        requests: encoded; held: the numbers of those that are sent only when all before them are answered. The check is
        then answered from the replies, as long as its requests are the same. Where the worker ends or hangs, all
        replies are dropped: only requests that are sent one after the other show which of them caused it.
        """
        self.drop_ahead()
        is_over_limit = self.spent >= self.limits.total_s or self.received > MAX_RECEIVED
        if is_over_limit or self.hung or self.worker is None or not self.is_alive:
            return None
        start_time = time.monotonic()
        bodies: list[bytes | bytearray | Exception] = []
        try:
            for body in self.worker.exchange_all(requests, self.seconds_left(), held):
                bodies.append(body)
                self.count(len(body))
        except LearnerError as error:
            bodies[-1] = error
        except NO_REPLY:
            self.restart()
            return None
        finally:
            self.spent += time.monotonic() - start_time
        self.ahead = Transcript(requests, bodies)
        replies = [body for body in bodies if isinstance(body, bytearray)]
        return replies if len(replies) == len(bodies) else None

    def drop_ahead(self) -> None:
        """Forget the replies to requests that were sent ahead."""
        self.ahead, self.asked_live = Transcript(), False

    def close(self) -> None:
        """End the worker, and the one without ready-made functions."""
        self._close_without()
        super().close()

    def _close_without(self) -> None:
        if self._without is not None:
            self._without.close()
            self._without = None

    def restart(self) -> None:
        """End the worker, so that the next request starts a new one, in which no earlier request has left a trace."""
        self.close()
        self.drop_ahead()
