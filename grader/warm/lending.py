"""What the warm process keeps ready, and lends to one child at a time: fork servers, and the helper of `limited`."""

import contextlib
import gc
from collections.abc import Iterable

import torch

from grader import catalog
from grader.catalog import documented, mistakes
from grader.catalog.exercise import Limits
from grader.judge import capture, collection
from grader.records import limited
from grader.sandbox import process, tiers
from grader.sandbox.forkserver import ForkServer
from grader.warm import code_state

WORKED, STARTING = "w", "s"  # the marks of a process that has answered, and of one that has not yet


class Lending:
    """Fork servers that have forked a worker already, and the checks of the exercises that were asked for."""

    def __init__(self, before: code_state.State) -> None:
        self.fork_server = ForkServer()
        self.before = before  # the state of all that was read, as it was then
        self.exercises: list[str] = []
        self.is_lent = False

    def prepare(self, folders: Iterable[str]) -> None:
        """Read the checks of these exercises, and start what they ask for. What is broken tells so when it is used."""
        for folder in folders:
            with contextlib.suppress(Exception):
                exercise = catalog.find(folder)
                if folder not in self.exercises:
                    self.exercises.append(folder)
                    self.before |= code_state.state_of(folder)
                    self.read(exercise)
                self.fork_server.keep(exercise.limits.needs, exercise.forbidden)
        limited.start()

    def read(self, exercise: catalog.Exercise) -> None:
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

    def is_current(self) -> bool:
        """Whether all that was read is as it was then."""
        now = code_state.state()
        for folder in self.exercises:
            now |= code_state.state_of(folder)
        return now == self.before

    def lend(self, for_good: bool = False) -> "Loan":
        """What a child gets: everything, or nothing while another one has it. for_good: it is not given back."""
        if self.is_lent:
            return Loan([])
        if any(running.process.poll() is not None for running in self.fork_server.processes()):
            self.replace()
        limited.start()
        return Loan(self.fork_server.processes(), for_good)

    def give_away(self) -> list[process.Process]:
        """Leave to a child what it keeps, and start the same for others in the background. Returns what it keeps."""
        given = self.fork_server.processes()
        tiers.stranger.cache_clear()  # each has a user of its own
        self.fork_server = ForkServer()
        self.prepare(self.exercises[-1:])
        return given

    def take_back(self, state: str, folders: Iterable[str]) -> None:
        """Take back what was lent. state: what Loan.give_back says; folders: of the exercises that were checked."""
        self.is_lent = False
        if state:
            limited.helper.ready = state[0] == WORKED
            for running, mark in zip(self.fork_server.processes(), state[1:]):
                running.warm = mark == WORKED
        else:
            self.replace()
        self.prepare(folders)

    def replace(self) -> None:
        """End what a child has left in the middle of something, and start all of it again, in the background."""
        for running in self.fork_server.processes():
            running.kill()
        limited.helper.close()
        self.fork_server = ForkServer()
        self.prepare(self.exercises[-1:])

    def demand(self) -> None:
        """Wait until a worker can be forked. Raises InfrastructureError."""
        self.fork_server.spawn(Limits()).close()

    def pids(self) -> list[int]:
        """The processes that are kept."""
        helper = limited.helper.process
        running = self.fork_server.processes()
        return [*{pid for one in running for pid in (one.pid, one.process.pid)}, *([helper.pid] if helper else [])]

    def close(self) -> None:
        """End all of it."""
        self.fork_server.close()
        limited.helper.close()


class Loan:
    """What one child has on loan. Only the child calls the methods."""

    def __init__(self, processes: list[process.Process], for_good: bool = False) -> None:
        self.processes = [process.Lent(running) for running in processes]
        self.has_helper = bool(processes) and not for_good
        self.helper = limited.helper.process

    def take(self) -> None:
        """Use what is lent from now on; where nothing is, start everything as a process does that is alone."""
        process.lent |= {running.kind: running for running in self.processes}
        if not self.processes:
            tiers.stranger.cache_clear()
        if not self.has_helper:
            limited.helper = limited.Helper()

    def give_back(self) -> str:
        """End what is left of the workers. Returns marks: of the helper and of each fork server.

        Returns "" where they cannot be lent again.
        """
        for running in self.processes:
            running.close()
        is_same_helper = limited.helper.process is self.helper and limited.helper.connection is not None
        is_whole = is_same_helper and all(running.is_whole for running in self.processes)
        have_worked = [limited.helper.ready, *(running.warm for running in self.processes)]
        return "".join(WORKED if has else STARTING for has in have_worked) if is_whole else ""
