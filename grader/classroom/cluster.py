"""The same grading on many machines: a Dask cluster's workers take rows of submissions and give back records.

Submissions travel as text, results come back as records. A worker that dies loses nothing: Dask gives its rows to
another. Each Dask worker keeps a grading process of its own (grader.classroom.pool), with its own sandbox.
"""

import atexit
import itertools
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict

from grader.classroom import version
from grader.classroom.pool import Order, Outcome, Pool, Task
from grader.errors import WrongUse
from grader.nursery import InfrastructureError
from grader.results import Settings

ROW = 16  # submissions that travel together: enough that the way costs nothing, few enough to be lost
AHEAD = 3  # rows under way for each thread of a worker
CONNECT_S = 20.0
START_S = 300.0  # until a first worker is there
ALLOWED_DEATHS = 10  # of workers under one row, before it is given up

_hands: dict[str, Pool] = {}  # on a Dask worker: its grading process, by order
_one_at_a_time = threading.Lock()


class Cluster:
    """A Dask cluster in the place of a Pool. address: tcp://host:8786, or a scheduler file."""

    def __init__(self, order: Order, address: str):
        try:
            import dask
            from distributed import Client
        except ImportError:
            raise WrongUse(
                "--dask needs the package distributed. Type: pip install 'attention-kata[classroom]'"
            ) from None
        dask.config.set({"distributed.scheduler.allowed-failures": ALLOWED_DEATHS})
        where = {"address": address} if "://" in address or ":" in address else {"scheduler_file": address}
        try:
            self.client = Client(**where, timeout=CONNECT_S, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            raise InfrastructureError(f"no Dask scheduler answers at {address}: {error}") from None
        self.order, self.sandbox = order, None

    def wait(self) -> dict:
        """The sandbox of one worker. Raises InfrastructureError where there is no worker, or another version."""
        try:
            self.client.wait_for_workers(1, timeout=START_S)
        except TimeoutError:
            raise InfrastructureError(f"the Dask scheduler has had no worker for {START_S:g} s") from None
        for address, theirs in self.client.run(version.grader).items():
            demand_same(theirs, address)
        try:
            answer = self.client.submit(grade_row, self._order(), [], pure=False).result()
        except RuntimeError as error:  # Dask's own words name no culprit
            raise InfrastructureError(
                "the Dask scheduler or a worker cannot import the grader. Install the same checkout on all machines "
                f"(pip install -e .), the scheduler's too ({str(error).strip().splitlines()[0]})"
            ) from None
        demand_graded(answer)
        self.sandbox = answer["sandbox"]
        return self.sandbox

    def run(self, rows: Iterable[Iterator[Task]], record: Callable[[Outcome], None]) -> None:
        """As Pool.run."""
        from distributed import as_completed

        waiting = (part for row in rows for part in _parts(row))
        tasks: dict[str, list[Task]] = {}
        done = as_completed(loop=self.client.loop)

        def send(count: int) -> None:
            for part in itertools.islice(waiting, count):
                future = self.client.submit(
                    grade_row, self._order(), [asdict(task) for task in part], pure=False, retries=2
                )
                tasks[future.key] = part
                done.add(future)

        send(self._room(0))
        for future in done:
            part = tasks.pop(future.key)
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
            send(self._room(len(tasks)))

    def _room(self, under_way: int) -> int:
        """How many rows more the workers that are there now can have."""
        threads = sum(worker["nthreads"] for worker in self.client.scheduler_info(n_workers=-1)["workers"].values())
        return max(AHEAD * max(threads, 1) - under_way, 0)

    def _order(self) -> dict:
        return {**asdict(self.order), "grader": version.grader()}

    def __enter__(self) -> "Cluster":
        return self

    def __exit__(self, *exception) -> None:
        self.client.close()


def grade_row(order: dict, row: list[dict]) -> dict:
    """On a Dask worker: grade a row of one exercise, one after the other.

    Gives the outcomes in order, or what is wrong with this worker: "refused".
    """
    if order["grader"] != version.grader():
        return {"refused": _differ(version.grader(), "a Dask worker", order["grader"])}
    with _one_at_a_time:
        try:
            hands = _pool(order)
            sandbox = hands.wait()
            outcomes: dict[str, Outcome] = {}
            tasks = [Task(**{**task, "notes": tuple(task["notes"])}) for task in row]
            hands.run([iter(tasks)], lambda outcome: outcomes.update({outcome.task.key: outcome}))
        except InfrastructureError as error:
            _close()
            return {"refused": str(error)}
    found = [outcomes[task.key] for task in tasks]
    return {"sandbox": sandbox, "outcomes": [(one.record, one.status, one.trouble) for one in found]}


def demand_same(theirs: str, where: str) -> None:
    """Raises InfrastructureError where a worker has another grader or another torch than we have."""
    if theirs != version.grader():
        raise InfrastructureError(_differ(theirs, f"the Dask worker {where}", version.grader()))


def demand_graded(answer: dict) -> None:
    if "refused" in answer:
        raise InfrastructureError(answer["refused"])


def _differ(theirs: str, who: str, ours: str) -> str:
    return (
        f"{who} has another version: grader {theirs}, here grader {ours}. No mark was recorded by it. "
        "Install the same checkout and the same torch on all machines, then start its workers again"
    )


def _parts(row: Iterator[Task]) -> Iterator[list[Task]]:
    while part := list(itertools.islice(row, ROW)):
        yield part


def _pool(order: dict) -> Pool:
    """This worker's grading process: the one of the row before, where the order is the same."""
    known = Order(Settings(**order["settings"]), order["tier"], order["accept_tier"], order["silence_s"])
    if known.line not in _hands:
        _close()
        _hands[known.line] = Pool(known, jobs=1)
    return _hands[known.line]


@atexit.register
def _close() -> None:
    for hands in _hands.values():
        hands.close()
    _hands.clear()
