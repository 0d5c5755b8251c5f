"""What makes a class quick: each check is rehearsed once on the solution, and equal answers are judged once.

With one seed for all, a check asks every submission the same. So its requests are written down once,
sent to a worker in one go, and where the worker's answers are byte for byte those of an earlier
submission, so is the verdict.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from grader import machinery, paths
from grader.connection import Local, Remote
from grader.learner import Learner
from grader.session import Session, check_id
from grader.syntax import forbidden_uses
from grader.worker import wire

MAX_KNOWN = 2_000  # verdicts that are remembered


@dataclass(frozen=True)
class Verdict:
    """What running a check came to. hits: forbidden operations seen until then."""

    error: BaseException | None
    calls: tuple
    hits: dict


class Recorder(Local):
    """The solution in a submission's place; `requests` are those since the last check began."""

    def ask(self, message: dict, tensors: list, function: str = "") -> tuple[dict, list]:
        self.requests.append(wire.encode(message, tensors))
        return super().ask(message, tensors, function)


class Rehearsal:
    """The requests of each check, and the verdicts on the answers seen so far.

    subject: makes the proxy before a connection, as it is made for submissions.
    """

    def __init__(self, session: Session, subject: Callable[[Local], Learner]):
        self.session = session
        self.recorder = Recorder.load(paths.solution(session.exercise.folder), session.exercise.slug)
        self.subject = subject(self.recorder)
        self.requests: dict[str, list[bytes]] = {}
        self.verdicts: dict[tuple, Verdict] = {}
        self.sentences: dict[tuple, dict[str, str]] = {}

    def of(self, item) -> list[bytes]:
        """What the check asks of code that is right."""
        name = check_id(item)
        if name not in self.requests:
            self.recorder.requests = self.requests[name] = []
            self.session.run(item, self.subject)
        return self.requests[name]

    def keys(self, item, remote: Remote, bodies: list[bytes] | None, hits: dict) -> tuple[tuple, ...]:
        """What the verdict depends on, where that can be said: first of one that passed, then of any.

        A failure that tells an exception names the learner's own lines; one that passed says nothing.
        """
        if bodies is None:
            return ()
        digest = hashlib.sha256()
        for body in bodies:
            digest.update(len(body).to_bytes(8, "little"))
            digest.update(body)
        read = self.read(item, remote)
        told = any(b"error" in body[: 1 << 20] for body in bodies)
        key = (check_id(item), digest.digest(), repr(sorted(hits.items())))
        return (*key, read), (*key, remote.submission.digest if told else read)

    def read(self, item, remote: Remote) -> str:
        """What the check reads of the source: nothing, or, where it would find something there, all of it."""
        if "no_ready_made" not in self.session.wanted(item):
            return ""
        source, rules = remote.submission.source, self.session.exercise.forbidden
        found = machinery.reaches(source) or any(forbidden_uses(source, rule) for rule in rules)
        return remote.submission.digest if found else ""

    def known(self, keys: tuple[tuple, ...]) -> Verdict | None:
        """The verdict on the same answers."""
        for key in keys:
            if key in self.verdicts:
                return self.verdicts[key]
        return None

    def remember(self, keys: tuple[tuple, ...], verdict: Verdict) -> None:
        passed, any_ = keys
        if len(self.verdicts) >= MAX_KNOWN:
            self.verdicts.clear()
            self.sentences.clear()
        self.verdicts[passed if verdict.error is None else any_] = verdict
