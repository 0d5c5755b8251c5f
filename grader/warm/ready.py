"""What the warm process has ready for one command at a time: fork servers, and the helper of `limited`.

All of it has answered before a child gets it, and a child gives all of it back, or it is ended and started again.
"""

import contextlib
import gc

import torch

from grader import catalog
from grader.catalog import documented, mistakes
from grader.catalog.exercise import Limits
from grader.judge import capture, collection
from grader.records import limited, source
from grader.sandbox import process
from grader.sandbox.forkserver import ForkServer
from grader.warm import code_state


class Ready:
    """Fork servers, the helper, and the checks of the exercises that were asked for. before: the state of the code."""

    def __init__(self, before: code_state.State) -> None:
        self.before = before
        self.exercises: list[str] = []
        self.fork_server = ForkServer()

    def prepare(self, folder: str) -> None:
        """Read the checks of an exercise, and start what it asks for. What is broken says so when it is used."""
        with contextlib.suppress(Exception):
            exercise = catalog.find(folder)
            if folder not in self.exercises:
                self.exercises.append(folder)
                self.before |= code_state.state([folder])
                _read(exercise)
            self.fork_server.keep(exercise.limits.needs, exercise.forbidden)
            self.fork_server.spawn(Limits(needs=exercise.limits.needs)).close()
            for rule in exercise.forbidden[:1]:
                self.fork_server.spawn(Limits(rule=rule)).close()

    def demand(self) -> None:
        """Wait until a worker can be forked and the helper answers. Raises InfrastructureError, BadSubmission."""
        self.fork_server.spawn(Limits()).close()
        source.outline("")

    def is_current(self) -> bool:
        """Whether all that was read is as it was then."""
        return code_state.state(self.exercises) == self.before

    def is_alive(self) -> bool:
        """Whether nothing of it has ended."""
        helper = limited.helper.process
        processes = [running.process for running in self.fork_server.processes()]
        return helper is not None and all(process.poll() is None for process in (helper, *processes))

    def replace(self) -> None:
        """End what a child has left in the middle of something, and start it again."""
        for running in self.fork_server.processes():
            running.kill()
        limited.helper.close()
        limited.helper = limited.Helper()
        self.fork_server = ForkServer()
        self.demand()
        for folder in self.exercises[-1:]:
            self.prepare(folder)

    def close(self) -> None:
        """End all of it."""
        self.fork_server.close()
        limited.helper.close()

    def take(self) -> None:
        """In a child: use it from now on."""
        self.lent = [process.Lent(running) for running in self.fork_server.processes()]
        self.helper = limited.helper.connection
        process.lent |= {running.kind: running for running in self.lent}

    def give_back(self) -> bool:
        """In a child: end the workers that are left. Returns whether another child can use all of it."""
        for running in self.lent:
            running.close()
        return limited.helper.connection is self.helper and all(running.is_whole for running in self.lent)


def _read(exercise: catalog.Exercise) -> None:
    """Read what every check of an exercise needs. It computes in one thread: a fork has no other."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with torch.random.fork_rng(devices=[]):
        collection.collect(exercise)
        documented.numbers(exercise.folder)
        mistakes.mistakes(exercise.folder)
        capture.setups(exercise.folder)
    torch.set_num_threads(threads)
    gc.collect()
    gc.freeze()
