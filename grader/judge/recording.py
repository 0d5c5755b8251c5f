"""Grades a class faster: each check is recorded once on the solution, and equal answers are judged once.

With one seed for all, a check sends every submission the same requests. So they are recorded once and sent to a worker
together, except those that tell the answer to an earlier one: they are sent after it was given. Where the answers are
byte for byte those of an earlier submission, the verdict is that of the earlier one.
"""

import hashlib
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from grader.catalog import paths
from grader.judge.collection import Check
from grader.judge.proxy import Learner
from grader.judge.session import Session
from grader.records import forbidden
from grader.records.bounded_cache import BoundedCache
from grader.records.forbidden import forbidden_uses
from grader.sandbox.call_results import Call
from grader.sandbox.local import Local
from grader.sandbox.recorder import Recorder
from grader.sandbox.remote import Remote
from grader.sandbox.taint import Flow
from grader.sandbox.transcript import Diverged
from grader.sandbox.unanswered import UnansweredNumbers
from grader.worker.executor import WITH_OPERATIONS
from grader.worker.protocol import Request
from grader.worker.wire import MAX_HEADER, RawTensor

Key = tuple[Any, ...]  # what a verdict or a sentence depends on
Tried = tuple[Key | None, BaseException | None, list[Call]]  # the key of a verdict, the error, the calls
VERDICTS, SENTENCES = 64 << 20, 8 << 20  # bytes that are remembered


@dataclass(frozen=True)
class Verdict:
    """The outcome of a check. hits: the forbidden operations seen until its end."""

    error: BaseException | None
    calls: tuple[Any, ...]
    hits: dict[str, list[Any]]


@dataclass(frozen=True)
class Script:
    """The requests of a check, encoded. held: the numbers of those that may tell the answer to an earlier one.

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
        if any((self.flow.reaches(request, tensors), self.unanswered.disclosed_by(tensors))):
            self.held.add(self.count)
            self.unanswered.clear()
        self.reads_source |= type(request) in WITH_OPERATIONS
        self.unanswered.add(answer)
        self.count += 1


class Recording:
    """The requests of each check, and the verdicts on the answers seen so far.

    subject: makes the proxy of a connection, as it is made for submissions.
    """

    def __init__(self, session: Session, subject: Callable[[Local], Learner]):
        self.session = session
        self.recorder = Recorder.load(paths.solution(session.exercise.folder), session.exercise.slug)
        self.subject = subject(self.recorder)
        self.scripts: dict[str, Script | None] = {}
        self.verdicts: BoundedCache[Key, Verdict] = BoundedCache(VERDICTS)
        self.sentences: BoundedCache[Key, dict[str, str]] = BoundedCache(SENTENCES)

    def of(self, check: Check) -> Script | None:
        """The requests that the check sends to right code; None where they are unknown or do not decide the verdict."""
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

    def run(self, check: Check, subject: Learner, remote: Remote, uses_verdicts: bool) -> Tried:
        """Run one check, with its requests sent together.

        uses_verdicts: whether the verdict on equal answers of an earlier submission may be taken.
        """
        script = self.of(check)
        if script is None:
            return (None, *self.session.run(check, subject))
        bodies = remote.ask_ahead(script.requests, script.held)
        # Another worker is asked too by a check of one's own formula, whose answers are not in the key.
        uses_verdicts &= "no_ready_made" not in check.fixtures
        keys = self.keys(check, remote, bodies, subject.hits) if uses_verdicts else ()
        key = keys[-1] if keys else None
        verdict = self.verdict_on(keys)
        if verdict is not None:
            remote.drop_ahead()
            subject.hits |= verdict.hits
            return key, verdict.error, list(verdict.calls)
        error, calls = self.session.run(check, subject)
        is_complete = not remote.asked_live  # then the key covers everything on which the verdict depends
        remote.drop_ahead()
        if isinstance(error, Diverged):
            remote.restart()
            return (None, *self.session.run(check, subject))
        # A verdict on this file alone is of no use: of equal files, one is graded.
        if keys and is_complete and (error is None or keys[-1][-1] != remote.submission.digest):
            kept_calls = () if error is None else tuple(calls)
            self.remember(keys, Verdict(error, kept_calls, dict(subject.hits)))
        return key if is_complete else None, error, calls

    def keys(
        self, check: Check, remote: Remote, bodies: Sequence[bytes | bytearray] | None, hits: dict[str, list[Any]]
    ) -> tuple[Key, ...]:
        """What the verdict depends on: first of a passed check, then of any; empty where replies are missing.

        The message of an exception names the learner's lines, so such a verdict depends on the whole file.
        """
        if bodies is None:
            return ()
        sizes = struct.pack(f"<{len(bodies)}Q", *map(len, bodies))
        digest = hashlib.sha256(b"".join([sizes, *bodies]))
        read = self.read(check, remote)
        names_lines = any(body.find(b"error", 0, MAX_HEADER) >= 0 for body in bodies)
        key = (check.id, digest.digest(), repr(sorted(hits.items())))
        return (*key, read), (*key, remote.submission.digest if names_lines else read)

    def read(self, check: Check, remote: Remote) -> str:
        """What the check reads in the source, for its key: the digest of the file, or "" where it finds nothing."""
        script = self.scripts[check.id]
        if script is None or not script.reads_source:
            return ""
        source, rules = remote.submission.source, self.session.exercise.forbidden
        has_forbidden_use = forbidden.reaches(source) or any(forbidden_uses(source, rule) for rule in rules)
        return remote.submission.digest if has_forbidden_use else ""

    def verdict_on(self, keys: tuple[Key, ...]) -> Verdict | None:
        """The verdict on the same answers."""
        return next((self.verdicts.get(key) for key in keys if key in self.verdicts), None)

    def remember(self, keys: tuple[Key, ...], verdict: Verdict) -> None:
        """Keep a verdict for later submissions with the same answers."""
        key_if_passed, key_of_any = keys
        self.verdicts.put(key_if_passed if verdict.error is None else key_of_any, verdict)
