"""Grades on many machines: the workers of a Dask cluster get parts of the class and return records.

If a worker dies, Dask gives its parts to another one. Each worker keeps a grading process of its own.
"""

import atexit
import json
import logging
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import CancelledError
from dataclasses import asdict
from pathlib import Path
from typing import Any

from grader.catalog import errors
from grader.catalog.errors import InfrastructureError, WrongUse
from grader.classroom import versions
from grader.classroom.pool import Grader, Order, Outcome, Task
from grader.records.results import Settings

PART = 16  # submissions sent together: enough to make the transfer cheap, and few enough to repeat
CONNECT_S, START_S = 20.0, 300.0  # seconds to wait for the scheduler, and for its first worker
ALLOWED_DEATHS = 10  # of workers that had the same part, before the part is given up
Answer = tuple[dict[str, Any], list[tuple[str, str, str]]]  # the sandbox, and the fields of each outcome


class Cluster:
    """A Dask cluster, with the methods of Pool. address: tcp://host:8786, or a scheduler file."""

    def __init__(self, order: Order, address: str) -> None:
        try:
            import dask
            from distributed import Client
        except ImportError:
            raise errors.missing_extra("--dask needs the package distributed", "classroom") from None
        dask.config.set({"distributed.scheduler.allowed-failures": ALLOWED_DEATHS})
        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # it prints tracebacks
        if ":" not in address and not Path(address).exists():  # for which Dask would wait
            raise WrongUse(f"There is no scheduler file {address}. An address looks like tcp://host:8786")
        scheduler = {"address" if ":" in address else "scheduler_file": address}
        try:
            self.client = Client(**scheduler, timeout=CONNECT_S, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            raise InfrastructureError(f"no Dask scheduler answers at {address}: {error}") from None
        self.order = {"order": asdict(order), "grader": versions.of_grader()}

    def wait(self) -> dict[str, Any]:
        """The sandbox that one worker tested. Raises InfrastructureError if no worker comes, or one refuses."""
        try:
            self.client.wait_for_workers(1, timeout=START_S)
            return self._accepted(self.client.submit(grade_part, [], **self.order, pure=False))[0]
        except TimeoutError:
            raise InfrastructureError(f"the Dask scheduler has had no worker for {START_S:g} s") from None
        except RuntimeError as error:  # Dask's own message does not say what to do
            raise InfrastructureError(
                "the Dask scheduler or a worker cannot import the grader. Install the same checkout on all machines "
                f"(pip install -e .), the scheduler's too ({str(error).strip().splitlines()[0]})"
            ) from None

    def run(self, rows: Iterable[Iterable[Task]]) -> Iterator[Outcome]:
        """Grade every task of every row. Yields the outcomes in the order in which they come back."""
        from distributed import as_completed

        tasks = [list(row) for row in rows]
        parts = [row[start : start + PART] for row in tasks for start in range(0, len(row), PART)]
        plain = [[asdict(task) for task in part] for part in parts]
        futures = self.client.map(grade_part, plain, **self.order, pure=False, retries=2)
        part_of = {future.key: part for future, part in zip(futures, parts)}
        for future in as_completed(futures, loop=self.client.loop):
            part = part_of[future.key]
            try:
                outcomes = self._accepted(future)[1]
            except InfrastructureError:
                raise
            except Exception as error:
                outcomes = [("", "", f"no worker could grade it: {error}"[:300])] * len(part)
            yield from (Outcome(task, *fields) for task, fields in zip(part, outcomes, strict=True))
            future.release()

    def _accepted(self, future: Any) -> Answer:
        """What a worker returned. Raises InfrastructureError if it refused to grade, or the scheduler has ended."""
        try:
            answer: Answer | str = future.result()
        except CancelledError:
            answer = "the Dask scheduler was lost. All results are kept: type the same command"
        if isinstance(answer, str):
            raise InfrastructureError(answer)
        return answer

    def close(self) -> None:
        self.client.close()


def grade_part(part: list[dict[str, Any]], order: dict[str, Any], grader: str) -> Answer | str:
    """Runs on a Dask worker: grade some submissions of one exercise. part, order: Tasks and an Order as plain data.

    Returns the sandbox and the fields of each Outcome, or what is wrong with this worker. grader: its version.
    """
    if grader != versions.of_grader():
        return (
            f"a Dask worker has a different version: grader {versions.of_grader()}, here {grader}. It recorded no "
            "mark. Install the same checkout and the same torch on all machines, then start its workers again"
        )
    with _lock:
        try:
            process = _grader_for(json.dumps(order))
            sandbox = process.wait()
            outcomes = [process.grade(Task(**task)) for task in part]
        except InfrastructureError as error:
            _close()
            return str(error)
    return sandbox, [(one.record, one.status, one.trouble) for one in outcomes]


# The grading process of a Dask worker. Its threads share it, and it grades one part after the other.
_lock = threading.Lock()
_graders: dict[str, Grader] = {}  # at most one, by its order


def _grader_for(order: str) -> Grader:
    """The process that grades by this order. One with a different order is ended."""
    if order not in _graders:
        _close()
        fields = json.loads(order)
        _graders[order] = Grader(Order(**{**fields, "settings": Settings(**fields["settings"])}))
    return _graders[order]


def _close() -> None:
    for order in list(_graders):
        _graders.pop(order).close()


atexit.register(_close)
