"""Asks a failed check's calls again, in a worker that was asked nothing before: does the code keep something?"""

import re

from grader.judge.compare import differ
from grader.judge.failure import Failure
from grader.judge.proxy import Learner
from grader.judge.session import Session
from grader.sandbox.call_results import Call, LearnerError
from grader.sandbox.remote import Remote

STATE = "Called first, this gives a different answer. Does your code keep something from an earlier call?"
UNWRITTEN = "A second call gives other numbers, and torch.empty is called: is each of its entries written?"
EMPTY = re.compile(r"\b(new_)?empty(_like)?\(")
TIMES = 2  # that the check is asked: an answer by chance differs from itself


def sentence(session: Session, failure: Failure, subject: Learner, connection: Remote) -> str | None:
    """STATE, where new workers answer the check's calls alike, and not as before; with torch.empty UNWRITTEN.

    connection: of the subject. It gets a new worker.
    """
    if isinstance(failure.error, LearnerError) and failure.error.kind != "exception":
        return None
    output, answers = connection.output, list[list[Call]]()
    try:
        for _ in range(TIMES):
            connection.close()
            error, calls = session.run(failure.check, subject)
            if isinstance(error, LearnerError) and error.kind != "exception":
                return None  # the new worker has not loaded all of the source, as one that takes long
            answers.append(calls)
    finally:
        connection.output = output
    if not _alike(*answers) or _alike(answers[0], failure.calls):
        return None
    return UNWRITTEN if EMPTY.search(subject.source) else STATE


def _alike(first: list[Call], second: list[Call]) -> bool:
    """Whether the same calls had the same answers."""
    return len(first) == len(second) and not any(map(differ, first, second))
