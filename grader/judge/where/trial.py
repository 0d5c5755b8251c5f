"""Runs changed versions of one submission in sandboxed workers: their answers, and the checks that they pass.

A probe is a call that the submission answers wrongly, with the solution's answer: it is cheaper than a check.
"""

import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from grader.catalog import paths
from grader.judge.collection import Check
from grader.judge.compare import in_words, same
from grader.judge.examiner import Examiner
from grader.judge.proxy import Learner
from grader.judge.session import Session
from grader.records import syntax
from grader.records.submission import Submission
from grader.sandbox.call_results import LearnerError, LeftOut
from grader.sandbox.local import Recorder
from grader.sandbox.remote import Remote
from grader.sandbox.worker_handle import TimedOut, Worker, WorkerEnded
from grader.worker import protocol, wire
from grader.worker.codec import Decoder

MAX_LOADS = 200  # sources that one worker loads: each may leave something behind
CALL_S = 0.5  # of processor time for one call; right code takes a hundredth of it
LATEST_S = 20.0  # for a whole search, on a machine that is far too busy
# What a search does, counted in requests.
LOAD, CHECK = 2, 3
FAILURE = 100  # a candidate that hung, or ended its worker
HANGS = ("timeout", "ended")
ANSWER_S = 0.15  # processor time of one answer, where many are asked ahead
FAILURES = (LearnerError, TimedOut, WorkerEnded, wire.ProtocolError)
BATCHES = (4, 8, 16)  # candidates that are sent together: few at first, as the likeliest come first
MAX_BYTES = 1 << 20  # of all requests of a probe
PROBED = ("output", "inputs", "gradients", "graph", "training", "backward", "attribute")
DESCRIPTION = {"parameters", "frozen", "training"}  # what is compared of a module; its submodules may differ
Item = TypeVar("Item")


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
        self.answering_worker: Worker | None = None  # the one that `answers` asks
        self.remote: Remote | None = None
        self.subject: Learner | None = None
        self.tried_count = self.loads = 0
        self.slow: dict[int, LeftOut] = {}

    @property
    def is_over(self) -> bool:
        return self.done >= self.work or time.monotonic() >= self.latest or self.is_cancelled()

    def answers(self, sources: Sequence[str], requests: Sequence[bytes]) -> Iterator[list[bytearray] | None]:
        """For each source its encoded replies to the requests; None where there is none, as the worker ended or hung.

        The sources are sent ahead of the replies. Ends early where the work is done, and at once where the trial is
        cancelled.
        """
        answered = 0
        while answered < len(sources) and not self.is_over:
            if self.answering_worker is None or not self.answering_worker.alive:
                limits = replace(self.limits, call_cpu_s=self.limits.call_cpu_s and ANSWER_S)
                self.answering_worker = self.examiner.fork_server.spawn(limits)
            bodies = [body for source in sources[answered:] for body in (self._load(source), *requests)]
            limits = self.answering_worker.limits
            replies = self.answering_worker.exchange_all(bodies, limits.call_s, limits.call_cpu_s)
            try:
                while answered < len(sources):
                    if self.is_cancelled():  # whoever waits for the fork server must not wait for these answers
                        self.answering_worker.close()
                        return
                    answer = [next(replies) for _ in range(1 + len(requests))][1:]
                    answered, self.tried_count = answered + 1, self.tried_count + 1
                    self.done += 1 + len(requests)
                    yield answer
            except FAILURES:
                answered, self.tried_count = answered + 1, self.tried_count + 1
                self.done += FAILURE
                yield None

    def _load(self, source: str) -> bytes:
        """The encoded request that loads a source."""
        filename, is_notebook = self.submission.filename, syntax.is_notebook(source)
        slug, skip = self.examiner.exercise.slug, list(self.slow)
        return protocol.encode_request(protocol.Load(source, filename, slug, is_notebook, skip, CALL_S))

    def load(self, source: str) -> bool:
        """Load this source as the candidate. Returns whether it could be loaded."""
        self.tried_count += 1
        self.done += LOAD
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
            self.done += FAILURE
            return False
        finally:
            self.worker = self.remote.worker
        self.subject = self.examiner.subject(self.remote)
        return True

    def passes(self, check: Check) -> bool:
        """Whether the candidate passes a check."""
        if self.subject is None or self.remote is None:
            return False
        error, calls = self.examiner.session.run(check, self.subject)
        self.done += CHECK + len(calls) + FAILURE * (isinstance(error, LearnerError) and error.kind in HANGS)
        self.worker = self.remote.worker
        return error is None

    def passes_all(self, checks: Iterable[Check]) -> bool:
        """Whether the candidate passes all of these checks. The first that fails is the last that is run."""
        return all(self.passes(check) for check in checks)

    def passes_with(self, seed: int, checks: Iterable[Check]) -> bool:
        """Whether the candidate passes these checks with the inputs of another seed, in a new worker."""
        if self.remote is None:
            return False
        self.done += LOAD + CHECK
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


@dataclass(frozen=True)
class Probe:
    """The requests of a check up to the first wrong answer, and the right answer.

    Of the requests before the last only those are kept that make or change an object.
    """

    requests: tuple[bytes, ...]
    expected: bytes

    @property
    def cost(self) -> int:
        return sum(map(len, self.requests)) + 2000 * len(self.requests)

    def fits(self, body: bytes | bytearray) -> bool:
        """Whether an encoded reply is the right answer."""
        return equal_answers(body, self.expected)


def probes(examiner: Examiner, trial: Trial, checks: Iterable[Check]) -> dict[str, Probe]:
    """The probe of each check that has one, by the check's id."""
    path = paths.solution(examiner.exercise.folder)
    if not path.exists():
        return {}
    solution = Recorder.load(path, examiner.exercise.slug)
    subject = examiner.subject(solution)
    by_check: dict[str, Probe] = {}
    for check in checks:
        if trial.is_over:
            break
        solution.exchanges.clear()
        examiner.session.run(check, subject)
        probe = _probe(solution, trial)
        if probe is not None:
            by_check[check.id] = probe
    return by_check


def sift(trial: Trial, probe: Probe, candidates: Iterable[tuple[Item, str]]) -> Iterator[Item]:
    """The items whose sources answer the probe rightly. Ends where the time is over.

    candidates: pairs of an item and its changed source.
    """
    waiting, sizes = iter(candidates), itertools.chain(BATCHES, itertools.repeat(BATCHES[-1]))
    still_wanted = itertools.takewhile(lambda _: not trial.is_cancelled(), waiting)
    while not trial.is_over and (batch := list(itertools.islice(still_wanted, next(sizes)))):
        # All answers of a batch are received before the first is looked at.
        answers = list(trial.answers([source for _, source in batch], probe.requests))
        yield from (item for (item, _), answer in zip(batch, answers) if answer is not None and probe.fits(answer[-1]))


def equal_answers(first_body: bytes | bytearray, second_body: bytes | bytearray) -> bool:
    """Whether two encoded replies are equal, as the checks compare values."""
    if first_body == second_body:
        return True
    try:
        first, second = _plain(first_body), _plain(second_body)
    except wire.ProtocolError:
        return False
    return first[:-1] == second[:-1] and same(first[-1], second[-1])


def _probe(solution: Recorder, trial: Trial) -> Probe | None:
    requests, right_replies = [request for request, _ in solution.exchanges], [reply for _, reply in solution.exchanges]
    if sum(map(len, requests)) > MAX_BYTES:
        return None
    decoded_requests = [protocol.decode_request(body)[0] for body in requests]
    answers = next(iter(trial.answers([trial.submission.source], requests)), None)
    if answers is None:
        return None
    asked = [n for n, request in enumerate(decoded_requests) if _is_probed(request)]
    first = next((n for n in asked if not equal_answers(answers[n], right_replies[n])), None)
    if first is None:
        return None
    setup_numbers = [n for n in range(first) if n not in asked or b'"object"' in right_replies[n][: 1 << 12]]
    for numbers in ([*setup_numbers, first], [*range(first + 1)]):
        kept_requests = tuple(requests[n] for n in numbers)
        solution_answers = [solution.answer(*protocol.decode_request(body)) for body in kept_requests]
        own_answers = next(iter(trial.answers([trial.submission.source], kept_requests)), None)
        is_right = equal_answers(solution_answers[-1], right_replies[first])
        if is_right and own_answers is not None and not equal_answers(own_answers[-1], right_replies[first]):
            return Probe(kept_requests, bytes(right_replies[first]))
    return None


def _is_probed(request: protocol.Request) -> bool:
    return isinstance(request, protocol.Describe) or getattr(request, "want", "") in PROBED


def _plain(body: bytes | bytearray) -> tuple[Any, ...]:
    reply, tensors = protocol.decode_reply(body)
    value = in_words(Decoder(tensors).value(reply.value))
    if isinstance(value, dict) and value.keys() >= DESCRIPTION:
        value = {name: value[name] for name in sorted(DESCRIPTION)}
    error = reply.error and reply.error["type"]
    return error, reply.missing, bool(reply.signature), reply.gradient, value
