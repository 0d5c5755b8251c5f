"""What makes a class quick: each check is recorded once on the solution, and equal answers are judged once.

With one seed for all, a check asks every submission the same. So its requests are written down once, and sent to a
worker in one go, but none that tells the answer to another before that is given. Where the worker's answers are byte
for byte those of an earlier submission, so is the verdict.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from grader.catalog import paths
from grader.judge.proxy import Learner
from grader.judge.session import Check, Session
from grader.records import introspection
from grader.records.bounded_cache import BoundedCache
from grader.records.forbidden import forbidden_uses
from grader.sandbox.local import Local
from grader.sandbox.recorder import Recorder
from grader.sandbox.remote import Remote
from grader.sandbox.taint import Flow
from grader.sandbox.unanswered import UnansweredNumbers
from grader.worker import protocol
from grader.worker.protocol import Request
from grader.worker.wire import RawTensor

Key = tuple[Any, ...]  # what a verdict or a sentence depends on
VERDICTS, SENTENCES = 64 << 20, 8 << 20  # bytes that are remembered


@dataclass(frozen=True)
class Verdict:
    """What running a check came to. hits: forbidden operations seen until then."""

    error: BaseException | None
    calls: tuple[Any, ...]
    hits: dict[str, list[Any]]


@dataclass(frozen=True)
class Script:
    """The requests of a check, encoded. held: the numbers of those that may tell an answer to one before them.

    reads_source: whether the verdict depends on the source too, as it does where a record of operations is asked for.
    """

    requests: list[bytes]
    held: frozenset[int]
    reads_source: bool


class AnswerFlow:
    """Observes the requests of a check, and finds those that may tell the answer to an earlier one.

    held: their numbers; reads_source: whether a record of operations was asked for, which is judged by the source too.
    """

    def __init__(self, flow: Flow):
        self.flow, self.unanswered = flow, UnansweredNumbers()
        self.count, self.reads_source = 0, False
        self.held: set[int] = set()

    def __call__(self, request: Request, tensors: list[RawTensor], answer: list[RawTensor]) -> None:
        """Take note of the next request and its answer."""
        # Both are asked about each request, because they remember what was sent.
        if any((self.flow.reaches(request, tensors), self.unanswered.told_by(tensors))):
            self.held.add(self.count)
            self.unanswered.clear()
        self.reads_source |= type(request) is protocol.CallWithOperations
        self.unanswered.add(answer)
        self.count += 1


class Recording:
    """The requests of each check, and the verdicts on the answers seen so far.

    subject: makes the proxy before a connection, as it is made for submissions.
    """

    def __init__(self, session: Session, subject: Callable[[Local], Learner]):
        self.session = session
        self.recorder = Recorder.load(paths.solution(session.exercise.folder), session.exercise.slug)
        self.subject = subject(self.recorder)
        self.scripts: dict[str, Script | None] = {}
        self.verdicts: BoundedCache[Key, Verdict] = BoundedCache(VERDICTS)
        self.sentences: BoundedCache[Key, dict[str, str]] = BoundedCache(SENTENCES)

    def of(self, check: Check) -> Script | None:
        """What the check asks of code that is right; None where that is not known, or its answers do not decide."""
        name = check.id
        if check.measured:
            return None
        if name not in self.scripts:
            with Flow() as flow:
                answers = AnswerFlow(flow)
                self.recorder.record(answers)
                error, _ = self.session.run(check, self.subject)
            # Where the solution does not reach the end of the check, these are not all requests of the check.
            reads_source = "no_ready_made" in check.fixtures or answers.reads_source
            script = Script(self.recorder.transcript.requests, frozenset(answers.held), reads_source)
            self.scripts[name] = script if error is None else None
        return self.scripts[name]

    def keys(
        self, check: Check, remote: Remote, bodies: Sequence[bytes | bytearray] | None, hits: dict[str, list[Any]]
    ) -> tuple[Key, ...]:
        """What the verdict depends on, where that can be said: first of one that passed, then of any.

        A failure that tells an exception names the learner's own lines; one that passed says nothing.
        """
        if bodies is None:
            return ()
        digest = hashlib.sha256()
        for body in bodies:
            digest.update(len(body).to_bytes(8, "little"))
            digest.update(body)
        read = self.read(check, remote)
        told = any(b"error" in body[: 1 << 20] for body in bodies)
        key = (check.id, digest.digest(), repr(sorted(hits.items())))
        return (*key, read), (*key, remote.submission.digest if told else read)

    def read(self, check: Check, remote: Remote) -> str:
        """What the check reads of the source: nothing, or, where it would find something there, all of it."""
        script = self.scripts[check.id]
        if script is None or not script.reads_source:
            return ""
        source, rules = remote.submission.source, self.session.exercise.forbidden
        found = introspection.reaches(source) or any(forbidden_uses(source, rule) for rule in rules)
        return remote.submission.digest if found else ""

    def known(self, keys: tuple[Key, ...]) -> Verdict | None:
        """The verdict on the same answers."""
        return next((self.verdicts.get(key) for key in keys if key in self.verdicts), None)

    def remember(self, keys: tuple[Key, ...], verdict: Verdict) -> None:
        passed, any_ = keys
        self.verdicts.put(passed if verdict.error is None else any_, verdict)
