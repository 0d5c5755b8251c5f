"""Known mistakes that explain a special input alone, while the same function fails otherwise on fresh ones.

An example of a few numbers has many explanations, and so have scores so large that one weight is 1. What explains a
documented example is kept where it answers the last call as the learner's code does with other values too: then a
second mistake may hide it elsewhere. Whole numbers have no such values, and there it is not kept.
"""

from collections.abc import Iterator

from grader.judge.compared_calls import alike
from grader.judge.failure import Failure
from grader.judge.proxy import Learner
from grader.judge.session import Session
from grader.judge.trials import SEEDS
from grader.judge.varied import Varied
from grader.judge.wrong_versions import WrongVersion
from grader.sandbox.call_results import Call
from grader.sandbox.local import Local
from grader.sandbox.remote import Remote
from grader.worker.protocol import Reply, Request
from grader.worker.wire import RawTensor

FRESH = "fresh_"  # so begin the names of hidden checks that compare values on new inputs
Matches = dict[str, list[WrongVersion]]


class VariedFrom(Varied):
    """As Varied, from one call of the check on: those before it were answered rightly. learner: what uses it."""

    learner: Learner

    def __init__(self, connection: Remote | Local, seed: int, first: int):
        super().__init__(connection, seed)
        self.first = first

    def exchange(self, request: Request, tensors: list[RawTensor], function: str = "") -> tuple[Reply, list[RawTensor]]:
        """The reply to one request, whose tensors are varied where its call is late enough."""
        if len(self.learner.calls) < self.first:
            return self.connection.exchange(request, tensors, function)
        return super().exchange(request, tensors, function)


def doubtful(matches: Matches, failures: dict[str, Failure]) -> Iterator[str]:
    """The documented checks whose mistakes explain no failed fresh check of the same function, where there is one."""
    for name, versions, fresh in _special(matches, failures):
        if not failures[name].check.hidden and not any(_parts(versions) & _parts(found) for found in fresh):
            yield name


def unsupported(matches: Matches, failures: dict[str, Failure]) -> Iterator[str]:
    """The hidden checks whose mistakes explain no other one, while nothing explains the function's fresh checks."""
    for name, versions, fresh in _special(matches, failures):
        others = [found for other, found in matches.items() if other != name]
        if failures[name].check.hidden and not any(fresh) and not any(set(versions) & set(found) for found in others):
            yield name


def kept(session: Session, versions: list[WrongVersion], failure: Failure, connection: Remote) -> list[WrongVersion]:
    """Those of the mistakes that answer as the learner's code does where the last call gets other values."""
    connection.drop_ahead()
    output = connection.output
    try:
        mine = [_calls(session, failure, connection, seed) for seed in SEEDS]
    finally:
        connection.output = output

    def answers_alike(wrong: WrongVersion, seed: int, calls: list[Call] | None) -> bool:
        theirs = _calls(session, failure, wrong.connection, seed) if calls is not None else None
        return calls is not None and theirs is not None and alike(theirs, calls)

    return [wrong for wrong in versions if all(map(answers_alike, [wrong] * len(SEEDS), SEEDS, mine))]


def _calls(session: Session, failure: Failure, connection: Remote | Local, seed: int) -> list[Call] | None:
    """The calls of the check up to the one that failed, which gets other values; None where it has none to vary."""
    varied = VariedFrom(connection, seed, len(failure.calls))
    varied.learner = Learner(varied)
    calls = session.run(failure.check, varied.learner)[1]
    return calls[: len(failure.calls)] if varied.changed else None


def _special(
    matches: Matches, failures: dict[str, Failure]
) -> Iterator[tuple[str, list[WrongVersion], list[list[WrongVersion]]]]:
    """Each check of special inputs that is explained, what explains it, and what explains the fresh checks that failed.

    These are of the same function, and there is one at least.
    """
    of_fresh = [failure for name, failure in failures.items() if name.startswith(FRESH)]
    for name, versions in matches.items():
        failure = failures[name]
        fresh = [matches.get(other.check.id, []) for other in of_fresh if other.last_called == failure.last_called]
        if versions and fresh and not (name.startswith(FRESH) or failure.check.measured):
            yield name, versions, fresh


def _parts(versions: list[WrongVersion]) -> set[WrongVersion]:
    """The mistakes, those in a pair singly."""
    return {part for wrong in versions for part in wrong.parts or (wrong,)}
