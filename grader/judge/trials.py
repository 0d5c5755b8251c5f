"""Asks what a failed check asked again, with nothing asked before it: does the code keep something?"""

import re

from grader.judge.compare import differ
from grader.judge.failure import Failure
from grader.judge.proxy import Learner
from grader.judge.session import Session
from grader.sandbox.call_results import Call, LearnerError
from grader.sandbox.connection import Connection
from grader.sandbox.remote import Remote
from grader.worker import protocol
from grader.worker.protocol import Reply, Request
from grader.worker.wire import RawTensor

STATE = "This call gives another answer if none comes before it. Does your code keep something from an earlier call?"
UNWRITTEN = "A second call gives other numbers, and torch.empty is called: is each of its entries written?"
EMPTY = re.compile(r"\b(new_)?empty(_like)?\(")
TIMES = 2  # that the check is asked: an answer by chance differs from itself
Answered = tuple[Reply, list[RawTensor]]


def sentence(session: Session, failure: Failure, subject: Learner, connection: Remote) -> str | None:
    """STATE, where the check's calls, or its last one, are answered otherwise if nothing was asked before.

    With torch.empty in the source UNWRITTEN. connection: of the subject. It gets new workers.
    """
    if isinstance(failure.error, LearnerError) and failure.error.kind != "exception":
        return None
    output = connection.output
    try:
        if _differs_in_a_new_worker(session, failure, subject, connection):
            return UNWRITTEN if EMPTY.search(subject.source) else STATE
        return STATE if _differs_alone(session, failure, connection) else None
    finally:
        connection.output = output


class Alone:
    """Passes on only the last call of a check, and what creates objects; calls before it get the replies of a run.

    replies: of all calls, as they come; earlier: those of the run, none if every call is to be passed on.
    """

    is_alive = False  # a new worker has nothing to forget

    def __init__(self, connection: Connection, earlier: list[Answered]) -> None:
        self.connection, self.source, self.words = connection, connection.source, connection.words
        self.earlier, self.replies = earlier, list[Answered]()

    def exchange(self, request: Request, tensors: list[RawTensor], function: str = "") -> Answered:
        """The reply to one request."""
        if not isinstance(request, protocol.Call):
            return self.connection.exchange(request, tensors, function)
        number, owner = len(self.replies), request.target[0]
        creates = isinstance(owner, str) and owner[:1].isupper()
        is_passed_on = creates or number + 1 >= len(self.earlier)
        reply = self.connection.exchange(request, tensors, function) if is_passed_on else self.earlier[number]
        self.replies.append(reply)
        return reply


def _differs_in_a_new_worker(session: Session, failure: Failure, subject: Learner, connection: Remote) -> bool:
    """Whether new workers answer the check's calls alike, and not as before."""
    answers = list[list[Call]]()
    for _ in range(TIMES):
        connection.close()
        error, calls = session.run(failure.check, subject)
        if isinstance(error, LearnerError) and error.kind != "exception":
            return False  # the new worker has not loaded all of the source, as one that takes long
        answers.append(calls)
    return _alike(*answers) and not _alike(answers[0], failure.calls)


def _differs_alone(session: Session, failure: Failure, connection: Remote) -> bool:
    """Whether an object that is called again answers otherwise if it was not called before."""
    last, owner = failure.calls[-1], failure.calls[-1].function.partition(".")[0]
    asked = {call.function for call in failure.calls[:-1] if call.function.startswith(f"{owner}.")}
    if last.function != f"{owner}.__call__" or asked != {last.function}:
        return False  # never called before, or another method may have changed it, as one that loads weights
    runs, earlier = list[list[Call]](), list[Answered]()
    for _ in range(TIMES):
        connection.close()
        alone = Alone(connection, earlier)
        runs.append(session.run(failure.check, Learner(alone))[1][: len(failure.calls)])
        earlier = earlier or alone.replies[: len(failure.calls)]
    return _alike(runs[0], failure.calls) and not _alike(*runs)


def _alike(first: list[Call], second: list[Call]) -> bool:
    """Whether the same calls had the same answers."""
    return len(first) == len(second) and not any(map(differ, first, second))
