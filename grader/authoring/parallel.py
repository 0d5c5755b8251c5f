"""Verifies many exercises in parallel processes. Each process has its own fork server.

Nothing heavy is imported here: a fork server imports torch while its process does.
"""

from __future__ import annotations

import functools
import gc
import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING

from grader.catalog import Exercise, mistakes
from grader.catalog.errors import InfrastructureError
from grader.records import containment, interrupts
from grader.sandbox.forkserver import ForkServer

if TYPE_CHECKING:
    from grader.authoring.verify import Report


def verify_all(
    exercises: Sequence[Exercise], seed: int, jobs: int, device: str = "cpu", thorough: bool = False, every: int = 1
) -> Iterator[Report]:
    """The report of each exercise, in their order. jobs: the number of processes at most; thorough: see verify.

    Raises InfrastructureError where nothing can be graded, or a process is killed.
    """
    jobs = min(jobs, len(exercises))
    if jobs <= 1:
        with ForkServer(device) as fork_server:
            for exercise in exercises:
                yield _verify(exercise, seed, device, thorough, every, fork_server)
        return
    longest_first = sorted(exercises, key=lambda exercise: -len(mistakes.failed_checks(exercise.folder)))
    spawned = multiprocessing.get_context("spawn")  # this process has threads, so it must not fork
    try:
        with ProcessPoolExecutor(jobs, spawned, initializer=_begin, initargs=(device,)) as pool:
            with interrupts.hold_back():  # the processes are started here
                reports = {
                    exercise.folder: pool.submit(_verify, exercise, seed, device, thorough, every)
                    for exercise in longest_first
                }
            try:
                for exercise in exercises:
                    yield reports[exercise.folder].result()
            finally:
                pool.shutdown(cancel_futures=True)  # it waits: a process without its parent would never end
    except BrokenProcessPool:
        raise InfrastructureError("a process was killed: is memory short? Try: make verify JOBS=1") from None
    finally:
        gc.collect()  # frees the semaphores of the pool, which the quick end of the command line would leave behind


def _begin(device: str) -> None:
    """Prepare a process of the pool."""
    interrupts.end_quietly()
    containment.strict = True
    _own_fork_server(device)


@functools.cache
def _own_fork_server(device: str) -> ForkServer:
    """The fork server of this process of the pool. It ends with the process."""
    return ForkServer(device)


def _verify(
    exercise: Exercise, seed: int, device: str, thorough: bool, every: int, fork_server: ForkServer | None = None
) -> Report:
    """The report of one exercise. fork_server None: that of this process of the pool."""
    from grader.authoring import verify  # heavy: torch

    return verify.verify(exercise, fork_server or _own_fork_server(device), seed, device, thorough, every)
