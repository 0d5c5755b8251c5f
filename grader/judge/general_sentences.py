"""What is said of a failed check that no known mistake explains: of the error, the answer, the source, or a trial."""

import torch

from grader.judge import error_sentences, patterns, source_sentences, used_functions
from grader.judge.failure import Failure, is_own
from grader.judge.mismatch import Mismatch
from grader.judge.proxy import Learner
from grader.judge.session import Session
from grader.judge.trials import Trials
from grader.sandbox.remote import Remote


class GeneralSentences:
    """The sentences on the failed checks of one submission after the other, in one session.

    tried: whether the last diagnosis looked at the source, or tried something out with the submission, so that it holds
    for that one alone.
    """

    def __init__(self, session: Session):
        self.session, self.tried = session, False

    def general(
        self, failure: Failure, failures: dict[str, Failure], passed: set[str], subject: Learner | None
    ) -> str | None:
        """A sentence without a known mistake: on the error, on the answer, on the other checks, or on a trial."""
        error = failure.error
        if certain := (isinstance(error, Mismatch) and error.cause) or self.of_source(failure, subject):
            return certain
        if not isinstance(error, Mismatch) or is_own(failure):
            return self.trial(failure, passed, subject) or error_sentences.of_sizes(error)
        sentence = patterns.describe(error)
        if sentence and not self.contradicted(sentence, failure, failures):
            return sentence
        return (
            patterns.of_checks(failure, failures, passed, self.session.checks)
            or self.unread(failure, subject)
            or self.trial(failure, passed, subject)
        )

    def of_source(self, failure: Failure, subject: Learner | None) -> str | None:
        """A sentence on the source alone, or on the source and an error in it."""
        if subject is None:
            return None
        self.tried = True
        words, number = subject._connection.words, self.session.exercise.folder[:2]
        if isinstance(failure.error, Mismatch):
            return source_sentences.sentence(failure, words)
        error = error_sentences.sentence(failure.error, subject.source, number)
        return error or source_sentences.sentence(failure, words) or self.unread(failure, subject)

    def unread(self, failure: Failure, subject: Learner | None) -> str | None:
        """A sentence on an argument that the function never reads."""
        if subject is None:
            return None
        self.tried = True
        return used_functions.unread(failure, subject._connection.words)

    def of_what_it_uses(self, failure: Failure, failures: dict[str, Failure], subject: Learner | None) -> str | None:
        """A sentence on a function that the learner's uses."""
        if subject is None:
            return None
        self.tried = True  # it holds for this source alone
        return used_functions.sentence(failure, failures, subject._connection.words)

    def contradicted(self, sentence: str, failure: Failure, failures: dict[str, Failure]) -> bool:
        """Whether a sentence on all values is not true of another wrong answer of the same function."""
        if not sentence.startswith(patterns.EVERY):
            return False
        function = failure.calls[-1].function
        others = [other for other in failures.values() if other.calls and other.calls[-1].function == function]
        errors = [other.error for other in others if isinstance(other.error, Mismatch) and other is not failure]
        return any(isinstance(error.got, torch.Tensor) and patterns.describe(error) != sentence for error in errors)

    def trial(self, failure: Failure, passed: set[str], subject: Learner | None) -> str | None:
        """A sentence that a trial shows to be true of a hidden check's failure."""
        if not failure.check.hidden or failure.check.measured or not failure.calls:
            return None
        connection = self.worker_of(subject)
        if subject is None or connection is None:
            return None
        self.tried = True
        return Trials(self.session, subject, connection, passed).sentence(failure)

    def worker_of(self, subject: Learner | None) -> Remote | None:
        """The submission's worker, where something can be tried out: the solution runs on the CPU only."""
        connection = subject._connection if subject is not None and subject._device == "cpu" else None
        return connection if isinstance(connection, Remote) else None
