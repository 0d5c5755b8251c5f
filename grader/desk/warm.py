"""The nursery as the watch uses it: the next worker is forked beforehand, and a grading can be given up."""

import contextlib
import os
import signal
import socket

from grader.nursery import InfrastructureError, Limits, Nursery, Worker


class Superseded(InfrastructureError):
    """The grading was given up, because a newer file waits. It passes through every check as that class does."""


class Warm:
    """Gives workers to one grading after the other."""

    def __init__(self, nursery: Nursery):
        self.nursery = nursery
        self.given_up = False
        self.current: Worker | None = None
        self.spare: tuple[Limits, Worker] | None = None

    def begin(self) -> None:
        """Another grading."""
        self.given_up, self.current = False, None

    def spawn(self, limits: Limits) -> Worker:
        """A fresh worker. Raises Superseded once the grading was given up."""
        if self.given_up:
            raise Superseded
        limits_of_spare, worker = self.spare or (None, None)
        self.spare = None
        if worker is not None and limits_of_spare != limits:
            worker.close()
            worker = None
        self.current = worker or self.nursery.spawn(limits)
        if self.given_up:
            self.current.close()
            raise Superseded
        return self.current

    def prepare(self, limits: Limits) -> None:
        """Fork the next worker, if there is none yet."""
        if self.spare is None:
            with contextlib.suppress(InfrastructureError):
                self.spare = limits, self.nursery.spawn(limits)

    def give_up(self) -> None:
        """End the grading in progress, from another thread, also where the learner's code hangs."""
        self.given_up = True
        worker = self.current
        if worker is not None and worker.alive:
            with contextlib.suppress(OSError):
                os.kill(worker.pid, signal.SIGKILL)
            with contextlib.suppress(OSError):
                worker.connection.shutdown(socket.SHUT_RDWR)
