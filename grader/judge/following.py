"""Finds how far a known mistake answers a failed check as the learner's code did, at as little cost as possible.

A check takes several times as long as its requests alone. So its requests are noted when it first runs on a known
mistake, and sent to every further one directly: as long as the answers are the learner's, the check would ask the same.
The check itself runs on those alone that answer every noted request alike.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import takewhile

from grader.judge.failure import Failure
from grader.judge.likeness import differ, outline, words
from grader.judge.proxy.learner import Learner, demand_value
from grader.judge.raising_lines import may_be_one
from grader.judge.session import Session
from grader.sandbox.call_results import Call, LearnerError
from grader.sandbox.local import Local
from grader.sandbox.transcript import Differs
from grader.worker import protocol, wire
from grader.worker.codec import Decoder
from grader.worker.protocol import Reply, Request
from grader.worker.wire import RawTensor

NOT, ALIKE, TO_THE_LETTER = 0, 1, 2  # how closely a failure is the learner's

Answer = tuple[Reply, list[RawTensor]]


@dataclass(frozen=True)
class Trace:
    """How far a version answers as the learner's code did.

    alike: how many calls had the learner's answer; other: the first other answer, None where there is none; degree: how
    closely the failure is the learner's.
    """

    alike: int
    other: Call | None = None
    degree: int = NOT


@dataclass(frozen=True)
class Step:
    """A request of the check, and the answer that it got.

    call: the number of the call that is compared with the learner's; None where the answer is not compared.
    """

    request: Request
    tensors: list[RawTensor]
    answer: Answer
    call: int | None


class Noting(Local):
    """A connection that notes each request and its answer. learner: the proxy that uses it, which counts the calls."""

    learner: Learner

    def __init__(self, connection: Local):
        self.connection, self.source, self.words = connection, connection.source, connection.words
        self.noted: list[tuple[Request, list[RawTensor], Answer, int]] = []

    def exchange(self, request: Request, tensors: list[RawTensor], function: str = "") -> Answer:
        """The answer to one request."""
        answer = self.connection.handled(request, tensors)
        self.noted.append((request, tensors, answer, len(self.learner.calls)))
        return protocol.decode_reply(protocol.encode_reply(*answer))

    def steps(self) -> list[Step]:
        """The noted requests. A description is a call of its own where the check took note of it."""
        # The last request before each further call, by the number of calls until then.
        last_requests = {calls: number for number, (*_, calls) in enumerate(self.noted)}
        steps = []
        for number, (request, tensors, answer, calls) in enumerate(self.noted):
            call = calls - 1 if isinstance(request, protocol.Call) else None
            if (
                isinstance(request, protocol.Describe)
                and last_requests[calls] == number
                and calls < len(self.learner.calls)
            ):
                call = calls if self.learner.calls[calls].want == "describe" else None
            steps.append(Step(request, tensors, answer, call))
        return steps


class Following:
    """One failed check, on which known mistakes are run. It serves one submission."""

    def __init__(self, session: Session, failure: Failure):
        self.session, self.failure = session, failure
        self.steps: list[Step] = []

    def trace(self, connection: Local, load: Callable[[], Local]) -> Trace:
        """How far a version answers as the learner's code did. load: loads it anew."""
        trace, noted = self._of_noted(connection), sum(step.call is not None for step in self.steps)
        if trace is not None:
            return trace
        trace = self._run(connection)
        return trace if trace.alike >= noted else self._run(load())  # it keeps something of what it was sent

    def _of_noted(self, connection: Local) -> Trace | None:
        """The trace, where it ends at a noted request; None where the check must be run."""
        for step in self.steps:
            if isinstance(step.request, protocol.Describe) and step is not self.steps[-1]:
                continue  # it changes nothing, and the run of the check compares it
            answer = connection.handled(step.request, step.tensors)
            if step.call is None:
                if not _same(answer, step.answer):
                    return None
                continue
            call = _call(step.request, answer)
            if differ(call, self.failure.calls[step.call]):
                return Trace(step.call, call)
        return None

    def _run(self, connection: Local) -> Trace:
        """Run the check up to the first answer that differs from the learner's."""
        failure, noting = self.failure, Noting(connection)
        noting.learner = Learner(noting, follows=failure.calls)
        error, calls = self.session.run(failure.check, noting.learner)
        steps = list(takewhile(lambda step: (step.call or 0) < len(failure.calls), noting.steps()))
        self.steps = max(steps, self.steps, key=len)
        if isinstance(error, Differs):
            request, _, answer, _ = noting.noted[-1]
            return Trace(len(calls) - 1, _call(request, answer))
        return Trace(len(calls), None, degree(error, calls, failure, connection.source))


def degree(error: BaseException | None, calls: list[Call], failure: Failure, source: str) -> int:
    """How closely an error after these calls is the learner's. The answers are taken to be alike.

    source: of what was called.
    """
    if error is None or isinstance(error, Differs) or len(calls) != len(failure.calls):
        return NOT
    if outline(error) != outline(failure.error):
        return NOT
    if not may_be_one(failure.error, error, source):
        return NOT
    return TO_THE_LETTER if words(error) == words(failure.error) else ALIKE


def _call(request: Request, answer: Answer) -> Call:
    """An answer in the form that is compared."""
    reply, tensors = answer
    describes = isinstance(request, protocol.Describe)
    call = Call("", "", "describe" if describes else "")
    try:
        demand_value(reply)
        call.value = Decoder(tensors).value(reply.value)
    except LearnerError as error:
        call.problem = error
    except wire.ProtocolError as error:
        call.problem = LearnerError("protocol", {"message": str(error)})
    if describes:
        call.value = call.value.get("parameters") if isinstance(call.value, dict) else None
    return call


def _same(first: Answer, second: Answer) -> bool:
    """Whether two answers are equal, whatever was printed."""
    return replace(first[0], output="") == replace(second[0], output="") and first[1] == second[1]
