"""Workers for the watch: a spare worker is forked in advance, and a grading can be cancelled."""

import contextlib
import os
import signal
import socket

from grader.catalog.errors import InfrastructureError
from grader.catalog.limits import Limits
from grader.sandbox.forkserver import ForkServer
from grader.sandbox.worker_handle import Worker


class Superseded(InfrastructureError):
    """The grading was cancelled because a newer file waits. No check catches an InfrastructureError."""


class SpareWorkers:
    """Provides one grading after the other with workers, as a fork server does."""

    def __init__(self, fork_server: ForkServer) -> None:
        self.fork_server = fork_server
        self.cancelled = False
        self.current: Worker | None = None
        self.spare: tuple[Limits, Worker] | None = None

    def begin(self) -> None:
        """Begin another grading."""
        self.cancelled, self.current = False, None

    def spawn(self, limits: Limits) -> Worker:
        """A new worker. Raises Superseded once the grading was cancelled."""
        if self.cancelled:
            raise Superseded
        limits_of_spare, worker = self.spare or (None, None)
        self.spare = None
        if worker is not None and limits_of_spare != limits:
            worker.close()
            worker = None
        self.current = worker or self.fork_server.spawn(limits)
        if self.cancelled:
            self.current.close()
            raise Superseded
        return self.current

    def prepare(self, limits: Limits) -> None:
        """Fork the spare worker, if there is none yet."""
        if self.spare is None:
            with contextlib.suppress(InfrastructureError):
                self.spare = limits, self.fork_server.spawn(limits)

    def cancel(self) -> None:
        """End the grading in progress, from another thread, even where the learner's code hangs."""
        self.cancelled = True
        worker = self.current
        if worker is not None and worker.alive:
            with contextlib.suppress(OSError):
                os.kill(worker.pid, signal.SIGKILL)
            with contextlib.suppress(OSError):
                worker.connection.shutdown(socket.SHUT_RDWR)
