"""Runs changed versions of one submission in sandboxed workers: their answers, and the checks that they pass."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from grader.judge.collection import Check
from grader.judge.examiner import Examiner
from grader.judge.proxy import Learner
from grader.judge.session import Session
from grader.judge.where.swapping import SUPPORT, Swap
from grader.records import places
from grader.records.submission import Submission
from grader.sandbox.call_results import LearnerError, LeftOut
from grader.sandbox.remote import Remote
from grader.sandbox.worker_handle import TimedOut, Worker, WorkerEnded
from grader.worker import protocol, wire

MAX_LOADS = 200  # sources that one worker loads: each may leave something behind
CALL_S = 0.5  # for one call; right code takes a hundredth of it
TOTAL_S = 2.0  # for all calls of one candidate
ANSWER_S = 0.15  # processor time of one answer, where many are asked ahead
FAILURES = (LearnerError, TimedOut, WorkerEnded, wire.ProtocolError)


class Trial:
    """Runs one candidate after the other in the same worker, which is replaced where it ends or hangs.

    deadline: the value of time.monotonic() after which nothing more is tried. is_cancelled: once it is true, neither.
    tried_count: how many candidates were tried. slow: statements that were stopped once, which no candidate runs.
    """

    def __init__(self, examiner: Examiner, submission: Submission, deadline: float, is_cancelled: Callable[[], bool]):
        self.examiner, self.submission = examiner, submission
        self.deadline, self.is_cancelled = deadline, is_cancelled
        limits = examiner.limits
        cpu_s = min(limits.call_cpu_s, CALL_S) if limits.call_cpu_s else None
        self.limits = replace(limits, call_s=min(limits.call_s, 2 * CALL_S), call_cpu_s=cpu_s, total_s=TOTAL_S)
        self.worker: Worker | None = None
        self.answering_worker: Worker | None = None  # the one that `answers` and `swapped` ask
        self.remote: Remote | None = None
        self.subject: Learner | None = None
        self.tried_count = self.loads = 0
        self.slow: dict[int, LeftOut] = {}

    @property
    def is_over(self) -> bool:
        return time.monotonic() >= self.deadline or self.is_cancelled()

    def answers(self, sources: Sequence[str], requests: Sequence[bytes]) -> Iterator[list[bytearray] | None]:
        """For each source its encoded replies to the requests; None where there is none, as the worker ended or hung.

        The sources are sent ahead of the replies. Ends early where the time is over, and at once where the trial is
        cancelled.
        """
        return self._answers([], [[self._load(source)] for source in sources], requests)

    def swapped(
        self, source: str, swaps: Sequence[Swap], requests: Sequence[bytes]
    ) -> Iterator[list[bytearray] | None]:
        """As `answers`, for one source with each of these changed definitions in turn."""
        base = [self._load(source + SUPPORT)]
        setups, is_loaded = [], True
        for swap in swaps:
            setups.append([self._load(swap.source)] if swap.source else [*([] if is_loaded else base), swap.request()])
            is_loaded = not swap.source
        return self._answers(base, setups, requests)

    def _answers(
        self, base: list[bytes], setups: Sequence[list[bytes]], requests: Sequence[bytes]
    ) -> Iterator[list[bytearray] | None]:
        """The replies to the requests after each of the setups. base: the requests that a new worker gets first."""
        answered = 0
        while answered < len(setups) and not self.is_over:
            if self.answering_worker is None or not self.answering_worker.alive:
                limits = replace(self.limits, call_cpu_s=self.limits.call_cpu_s and ANSWER_S)
                self.answering_worker = self.examiner.fork_server.spawn(limits)
            bodies = [*base, *(body for setup in setups[answered:] for body in (*setup, *requests))]
            replies = self.answering_worker.exchange_all(bodies, self.limits.call_s)
            try:
                _ = [next(replies) for _ in base]
                while answered < len(setups):
                    if self.is_cancelled():  # whoever waits for the fork server must not wait for these answers
                        self.answering_worker.close()
                        return
                    number = len(setups[answered]) + len(requests)
                    answer = [next(replies) for _ in range(number)][-len(requests) :]
                    answered, self.tried_count = answered + 1, self.tried_count + 1
                    yield answer
            except FAILURES:
                answered, self.tried_count = answered + 1, self.tried_count + 1
                yield None

    def _load(self, source: str) -> bytes:
        """The encoded request that loads a source."""
        filename, is_notebook = self.submission.filename, places.is_notebook(source)
        slug, skip = self.examiner.exercise.slug, list(self.slow)
        return protocol.encode_request(protocol.Load(source, filename, slug, is_notebook, skip, CALL_S))

    def load(self, source: str) -> bool:
        """Load this source as the candidate. Returns whether it could be loaded."""
        self.tried_count += 1
        self.loads += 1
        reused_worker = self.worker if self.loads % MAX_LOADS else None
        if reused_worker is None and self.worker is not None:
            self.worker.close()
        submission = replace(self.submission, source=source)
        self.remote = Remote(self.examiner.fork_server, submission, self.examiner.exercise.slug, self.limits)
        self.remote.skipped |= self.slow
        try:
            self.remote.load(reused_worker)
            self.slow |= self.remote.stopped()
        except FAILURES:
            self.subject = None
            return False
        finally:
            self.worker = self.remote.worker
        self.subject = self.examiner.subject(self.remote)
        return True

    def passes(self, check: Check) -> bool:
        """Whether the candidate passes a check."""
        if self.subject is None or self.remote is None:
            return False
        _, error, _ = self.examiner.judge(check, self.subject, self.remote)
        self.worker = self.remote.worker
        return error is None

    def passes_all(self, checks: Iterable[Check]) -> bool:
        """Whether the candidate passes all of these checks. The first that fails is the last that is run."""
        return all(self.passes(check) for check in checks)

    def passes_with(self, seed: int, checks: Iterable[Check]) -> bool:
        """Whether the candidate passes these checks with the inputs of another seed, in a new worker."""
        if self.remote is None:
            return False
        session = Session(self.examiner.exercise, seed)
        session.checks = self.examiner.session.checks
        remote = Remote(self.examiner.fork_server, self.remote.submission, self.examiner.exercise.slug, self.limits)
        try:
            remote.load()
            return all(session.run(check, self.examiner.subject(remote))[0] is None for check in checks)
        except LearnerError:
            return False
        finally:
            remote.close()

    def close(self) -> None:
        """End the workers."""
        for worker in (self.worker, self.answering_worker):
            if worker is not None:
                worker.close()
        self.worker = self.answering_worker = None
