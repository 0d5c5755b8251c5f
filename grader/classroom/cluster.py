"""Grades on many machines: the workers of a Dask cluster receive parts of the class and return records.

Submissions are sent as text, results are returned as records. Where a worker dies, Dask gives its parts to another.
Each Dask worker keeps a grading process of its own (grader.classroom.pool), with its own sandbox.
"""

import atexit
import itertools
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from typing import Any

from grader.catalog import errors
from grader.catalog.errors import InfrastructureError
from grader.classroom import ledger
from grader.classroom.pool import Order, Outcome, Pool, Task
from grader.records.results import Settings

PART = 16  # submissions sent together: enough to make the transfer cheap, and few enough to repeat
AHEAD = 3  # parts that are sent ahead for each thread of a worker
CONNECT_S = 20.0  # seconds to wait for the scheduler
START_S = 300.0  # seconds to wait for the first worker
ALLOWED_DEATHS = 10  # of workers that had the same part, before the part is given up


class Cluster:
    """A Dask cluster, with the methods of Pool. address: tcp://host:8786, or a scheduler file.

    Raises WrongUse where distributed is not installed, InfrastructureError where no scheduler answers.
    """

    def __init__(self, order: Order, address: str) -> None:
        try:
            import dask
            from distributed import Client
        except ImportError:
            raise errors.missing_extra("--dask needs the package distributed", "classroom") from None
        dask.config.set({"distributed.scheduler.allowed-failures": ALLOWED_DEATHS})
        scheduler = {"address": address} if "://" in address or ":" in address else {"scheduler_file": address}
        try:
            self.client = Client(**scheduler, timeout=CONNECT_S, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            raise InfrastructureError(f"no Dask scheduler answers at {address}: {error}") from None
        self.order = order

    def wait(self) -> dict[str, Any]:
        """The sandbox that one worker tested.

        Raises InfrastructureError where there is no worker, or where one has another version of the grader.
        """
        try:
            self.client.wait_for_workers(1, timeout=START_S)
        except TimeoutError:
            raise InfrastructureError(f"the Dask scheduler has had no worker for {START_S:g} s") from None
        for address, worker_version in self.client.run(ledger.version_of_grader).items():
            demand_same(worker_version, address)
        try:
            answer = self.client.submit(grade_part, self._order(), [], pure=False).result()
        except RuntimeError as error:  # Dask's own message does not say what to do
            raise InfrastructureError(
                "the Dask scheduler or a worker cannot import the grader. Install the same checkout on all machines "
                f"(pip install -e .), the scheduler's too ({str(error).strip().splitlines()[0]})"
            ) from None
        demand_graded(answer)
        sandbox: dict[str, Any] = answer["sandbox"]
        return sandbox

    def run(self, rows: Iterable[Iterator[Task]], record: Callable[[Outcome], None]) -> None:
        """Grade every task of every row and call `record` for each, as Pool.run does."""
        from distributed import as_completed

        waiting = (part for row in rows for part in _parts(row))
        sent: dict[str, list[Task]] = {}  # by the key of the future
        completed = as_completed(loop=self.client.loop)

        def send(count: int) -> None:
            """Send so many more parts."""
            for part in itertools.islice(waiting, count):
                future = self.client.submit(
                    grade_part, self._order(), [asdict(task) for task in part], pure=False, retries=2
                )
                sent[str(future.key)] = part
                completed.add(future)

        send(self._room(0))
        for future in completed:
            part = sent.pop(future.key)
            error = future.exception()
            if error is not None:
                for task in part:
                    record(Outcome(task, trouble=f"no worker could grade it: {error}"[:300]))
            else:
                answer = future.result()
                demand_graded(answer)
                for task, (text, status, trouble) in zip(part, answer["outcomes"], strict=True):
                    record(Outcome(task, text, status, trouble))
            future.release()
            send(self._room(len(sent)))

    def _room(self, under_way: int) -> int:
        """How many more parts can be sent to the workers that are connected now. under_way: the parts sent before."""
        threads = sum(worker["nthreads"] for worker in self.client.scheduler_info(n_workers=-1)["workers"].values())
        return max(AHEAD * max(threads, 1) - under_way, 0)

    def _order(self) -> dict[str, Any]:
        """The order as plain data, with the version of the grader that every worker must have."""
        return {**asdict(self.order), "grader": ledger.version_of_grader()}

    def __enter__(self) -> "Cluster":
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()


def grade_part(order: dict[str, Any], part: list[dict[str, Any]]) -> dict[str, Any]:
    """Runs on a Dask worker: grade some submissions of one exercise, one after the other.

    order, part: an Order and Tasks as plain data. Returns {"sandbox", "outcomes"} with the outcomes in order, or
    {"refused"} with what is wrong with this worker.
    """
    if order["grader"] != ledger.version_of_grader():
        return {"refused": _differ(ledger.version_of_grader(), "a Dask worker", order["grader"])}
    with _process.lock:
        try:
            executor = _process.pool_for(order)
            sandbox = executor.wait()
            outcomes: dict[str, Outcome] = {}
            tasks = [Task(**{**task, "notes": tuple(task["notes"])}) for task in part]
            executor.run([iter(tasks)], lambda outcome: outcomes.update({outcome.task.key: outcome}))
        except InfrastructureError as error:
            _process.close()
            return {"refused": str(error)}
    ordered = [outcomes[task.key] for task in tasks]
    return {"sandbox": sandbox, "outcomes": [(outcome.record, outcome.status, outcome.trouble) for outcome in ordered]}


def demand_same(worker_version: str, machine_name: str) -> None:
    """Raise InfrastructureError where a worker has another version of the grader or of torch than this process."""
    if worker_version != ledger.version_of_grader():
        raise InfrastructureError(
            _differ(worker_version, f"the Dask worker {machine_name}", ledger.version_of_grader())
        )


def demand_graded(answer: dict[str, Any]) -> None:
    """Raise InfrastructureError where a worker refused to grade."""
    if "refused" in answer:
        raise InfrastructureError(answer["refused"])


def _differ(other_version: str, machine_name: str, own_version: str) -> str:
    """The message about two versions that differ."""
    return (
        f"{machine_name} has another version: grader {other_version}, here grader {own_version}. "
        "No mark was recorded by it. "
        "Install the same checkout and the same torch on all machines, then start its workers again"
    )


def _parts(row: Iterator[Task]) -> Iterator[list[Task]]:
    """The tasks of one exercise, in parts of PART."""
    while part := list(itertools.islice(row, PART)):
        yield part


class GradingProcess:
    """The grading process of a Dask worker. It grades one part after the other as long as the order is the same."""

    def __init__(self) -> None:
        self.lock = threading.Lock()  # one part at a time
        self.order: Order | None = None
        self.pool: Pool | None = None

    def pool_for(self, fields: dict[str, Any]) -> Pool:
        """The process that grades by this order, given as plain data. A process with another order is ended."""
        order = Order(Settings(**fields["settings"]), fields["tier"], fields["accept_tier"], fields["silence_s"])
        if self.pool is None or self.order != order:
            self.close()
            self.order, self.pool = order, Pool(order, jobs=1)
        return self.pool

    def close(self) -> None:
        """End the process, if there is one."""
        if self.pool is not None:
            self.pool.close()
        self.order = self.pool = None


# Made at import, so that the threads of a Dask worker share it.
_process = GradingProcess()
atexit.register(_process.close)
