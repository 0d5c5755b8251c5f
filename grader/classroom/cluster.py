"""Grades on many machines: the workers of a Dask cluster get parts of the class and return records.

Submissions are sent as text. If a worker dies, Dask gives its parts to another one. Each worker keeps a grading process
of its own (grader.classroom.pool), with its own sandbox.
"""

import atexit
import json
import threading
from collections.abc import Iterable, Iterator
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


class Cluster:
    """A Dask cluster, with the methods of Pool. address: tcp://host:8786, or a scheduler file.

    Raises WrongUse if distributed or the file is missing, InfrastructureError if no scheduler answers.
    """

    def __init__(self, order: Order, address: str) -> None:
        try:
            import dask
            from distributed import Client
        except ImportError:
            raise errors.missing_extra("--dask needs the package distributed", "classroom") from None
        dask.config.set({"distributed.scheduler.allowed-failures": ALLOWED_DEATHS})
        scheduler = {"address": address} if ":" in address else {"scheduler_file": address}
        if "scheduler_file" in scheduler and not Path(address).exists():  # for which Dask would wait
            raise WrongUse(f"There is no scheduler file {address}. An address looks like tcp://host:8786")
        try:
            self.client = Client(**scheduler, timeout=CONNECT_S, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            raise InfrastructureError(f"no Dask scheduler answers at {address}: {error}") from None
        self.order = {**asdict(order), "grader": versions.of_grader()}

    def wait(self) -> dict[str, Any]:
        """The sandbox that one worker tested. Raises InfrastructureError if no worker comes, or one refuses."""
        try:
            self.client.wait_for_workers(1, timeout=START_S)
        except TimeoutError:
            raise InfrastructureError(f"the Dask scheduler has had no worker for {START_S:g} s") from None
        try:
            answer = self.client.submit(grade_part, [], self.order, pure=False).result()
        except RuntimeError as error:  # Dask's own message does not say what to do
            raise InfrastructureError(
                "the Dask scheduler or a worker cannot import the grader. Install the same checkout on all machines "
                f"(pip install -e .), the scheduler's too ({str(error).strip().splitlines()[0]})"
            ) from None
        sandbox: dict[str, Any] = _accepted(answer)["sandbox"]
        return sandbox

    def run(self, rows: Iterable[Iterable[Task]]) -> Iterator[Outcome]:
        """Grade every task of every row. Yields the outcomes in the order in which they come back."""
        from distributed import as_completed

        tasks = [list(row) for row in rows]
        parts = [row[start : start + PART] for row in tasks for start in range(0, len(row), PART)]
        plain = [[asdict(task) for task in part] for part in parts]
        futures = self.client.map(grade_part, plain, order=self.order, pure=False, retries=2)
        part_of = {future.key: part for future, part in zip(futures, parts)}
        for future in as_completed(futures, loop=self.client.loop):
            part, error = part_of[future.key], future.exception()
            if error is not None:
                yield from (Outcome(task, trouble=f"no worker could grade it: {error}"[:300]) for task in part)
            else:
                outcomes = _accepted(future.result())["outcomes"]
                yield from (Outcome(task, *fields) for task, fields in zip(part, outcomes, strict=True))
            future.release()

    def __enter__(self) -> "Cluster":
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()


def grade_part(part: list[dict[str, Any]], order: dict[str, Any]) -> dict[str, Any]:
    """Runs on a Dask worker: grade some submissions of one exercise. part, order: Tasks and an Order as plain data.

    Returns {"sandbox", "outcomes"} with the outcomes in order, or {"refused"} with what is wrong with this worker.
    """
    if order["grader"] != versions.of_grader():
        return {
            "refused": f"a Dask worker has a different version: grader {versions.of_grader()}, here "
            f"{order['grader']}. It recorded no mark. Install the same checkout and the same torch on all machines, "
            "then start its workers again"
        }
    with _lock:
        try:
            grader = _grader_for(order)
            sandbox = grader.wait()
            outcomes = [grader.grade(Task(**task)) for task in part]
        except InfrastructureError as error:
            _close()
            return {"refused": str(error)}
    return {"sandbox": sandbox, "outcomes": [(one.record, one.status, one.trouble) for one in outcomes]}


def _accepted(answer: dict[str, Any]) -> dict[str, Any]:
    """The answer of a worker. Raises InfrastructureError if it refused to grade."""
    if "refused" in answer:
        raise InfrastructureError(answer["refused"])
    return answer


# The grading process of a Dask worker. Its threads share it, and it grades one part after the other.
_lock = threading.Lock()
_graders: dict[str, Grader] = {}  # at most one, by its order


def _grader_for(order: dict[str, Any]) -> Grader:
    """The process that grades by this order. One with a different order is ended."""
    name = json.dumps(order)
    if name not in _graders:
        _close()
        fields = {**order, "settings": Settings(**order["settings"])}
        del fields["grader"]
        _graders[name] = Grader(Order(**fields))
    return _graders[name]


def _close() -> None:
    for order in list(_graders):
        _graders.pop(order).close()


atexit.register(_close)
