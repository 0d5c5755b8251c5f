"""Runs changed versions of one submission in sandboxed workers: which checks do they pass?"""

import time
from collections.abc import Callable, Iterable
from dataclasses import replace

from grader.judge.collection import Check
from grader.judge.examiner import Examiner
from grader.judge.proxy import Learner
from grader.records.submission import Submission
from grader.sandbox.call_results import LearnerError, LeftOut
from grader.sandbox.remote import Remote
from grader.sandbox.worker_handle import TimedOut, Worker, WorkerEnded
from grader.worker import wire

MAX_LOADS = 200  # sources that one worker loads: each may leave something behind
CALL_S = 0.5  # of processor time for one call; right code takes a hundredth of it
LATEST_S = 20.0  # for a whole search, on a machine that is far too busy
# What a search does, counted in requests.
LOAD, CHECK = 2, 3
FAILURE = 100  # a candidate that hung, or ended its worker
HANGS = ("timeout", "ended")
FAILURES = (LearnerError, TimedOut, WorkerEnded, wire.ProtocolError)


class Trial:
    """Runs one candidate after the other in the same worker, which is replaced where it ends or hangs.

    work: how much may be done, in requests that a worker answers: a count, so that a busy machine finds the same line
    as a quiet one. done: how much was done. is_cancelled: once it is true, nothing more is tried. tried_count: how many
    candidates were tried. slow: statements that were stopped once, which no candidate runs.
    """

    def __init__(self, examiner: Examiner, submission: Submission, work: int, is_cancelled: Callable[[], bool]):
        self.examiner, self.submission = examiner, submission
        self.work, self.done, self.is_cancelled = work, 0, is_cancelled
        self.latest = time.monotonic() + LATEST_S
        limits = examiner.limits
        if limits.call_cpu_s:  # elapsed time does not matter, as a busy machine lets a right candidate wait
            self.limits = replace(limits, call_cpu_s=min(limits.call_cpu_s, CALL_S), total_s=LATEST_S)
        else:
            self.limits = replace(limits, call_s=min(limits.call_s, 2 * CALL_S), total_s=LATEST_S)
        self.worker: Worker | None = None
        self.remote: Remote | None = None
        self.subject: Learner | None = None
        self.tried_count = 0
        self.slow: dict[int, LeftOut] = {}

    @property
    def is_over(self) -> bool:
        return self.done >= self.work or time.monotonic() >= self.latest or self.is_cancelled()

    def load(self, source: str) -> bool:
        """Load this source as the candidate. Returns whether it could be loaded."""
        self.tried_count += 1
        self.done += LOAD
        reused_worker = self.worker if self.tried_count % MAX_LOADS else None
        if reused_worker is None and self.worker is not None:
            self.worker.close()
        submission = replace(self.submission, source=source)
        self.remote = Remote(self.examiner.fork_server, submission, self.examiner.exercise.slug, self.limits)
        self.remote.skipped |= self.slow
        try:
            self.remote.load(reused_worker)
            self.slow |= self.remote.skipped
        except FAILURES:
            self.subject = None
            self.done += FAILURE
            return False
        finally:
            self.worker = self.remote.worker
        self.subject = self.examiner.subject(self.remote)
        return True

    def passes(self, check: Check) -> bool:
        """Whether the candidate passes a check. False where the trial is cancelled."""
        if self.subject is None or self.remote is None or self.is_cancelled():
            return False
        error, calls = self.examiner.session.run(check, self.subject)
        self.done += CHECK + len(calls) + FAILURE * (isinstance(error, LearnerError) and error.kind in HANGS)
        self.worker = self.remote.worker
        return error is None

    def passes_all(self, checks: Iterable[Check]) -> bool:
        """Whether the candidate passes all of these checks. The first that fails is the last that is run."""
        return all(self.passes(check) for check in checks)

    def close(self) -> None:
        """End the worker."""
        if self.worker is not None:
            self.worker.close()
        self.worker = None
