"""What makes a class quick: each check is rehearsed once on the solution, and equal answers are judged once.

With one seed for all, a check asks every submission the same. So its requests are written down once,
sent to a worker in one go, and where the worker's answers are byte for byte those of an earlier
submission, so is the verdict.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from grader import paths
from grader.connection import Local, Remote, Request
from grader.learner import Learner
from grader.session import Session, check_id
from grader.worker import wire

MAX_KNOWN = 20_000  # verdicts that are remembered


@dataclass(frozen=True)
class Verdict:
    """What running a check came to. hits: forbidden operations seen until then."""

    error: BaseException | None
    calls: tuple
    hits: dict


class Recorder(Local):
    """The solution in a submission's place; `requests` are those since the last check began."""

    def ask(self, message: dict, tensors: list, function: str = "") -> tuple[dict, list]:
        self.requests.append(Request(wire.encode(message, tensors), function))
        return super().ask(message, tensors, function)


class Rehearsal:
    """The requests of each check, and the verdicts on the answers seen so far.

    subject: makes the proxy before a connection, as it is made for submissions.
    """

    def __init__(self, session: Session, subject: Callable[[Local], Learner]):
        self.session = session
        self.recorder = Recorder.load(paths.solution(session.exercise.folder), session.exercise.slug)
        self.subject = subject(self.recorder)
        self.requests: dict[str, list[Request]] = {}
        self.verdicts: dict[tuple, Verdict] = {}
        self.sentences: dict[tuple, dict[str, str]] = {}

    def of(self, item) -> list[Request]:
        """What the check asks of code that is right."""
        name = check_id(item)
        if name not in self.requests:
            self.recorder.requests = self.requests[name] = []
            self.session.run(item, self.subject)
        return self.requests[name]

    def key(self, item, remote: Remote, bodies: list[bytes] | None, hits: dict) -> tuple | None:
        """What the verdict depends on. None: on more than can be said."""
        if bodies is None:
            return None
        digest = hashlib.sha256()
        for body in bodies:
            digest.update(len(body).to_bytes(8, "little"))
            digest.update(body)
        # Messages tell the learner's own lines where something was raised, and some checks read the source.
        reads = "no_ready_made" in self.session.wanted(item) or any(b"error" in body[: 1 << 20] for body in bodies)
        return (check_id(item), digest.digest(), repr(sorted(hits.items())), remote.submission.digest if reads else "")

    def remember(self, key: tuple, verdict: Verdict) -> None:
        if len(self.verdicts) >= MAX_KNOWN:
            self.verdicts.clear()
            self.sentences.clear()
        self.verdicts[key] = verdict
