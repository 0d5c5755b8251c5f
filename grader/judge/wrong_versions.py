"""The known mistakes of an exercise, run on the checks that a submission failed: which answer alike, and how far?

A mistake is sent the requests of a failed check up to the first answer that is not the learner's.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import takewhile

from grader.catalog import mistakes, paths
from grader.judge import launched
from grader.judge.collection import Check
from grader.judge.compare import differ, outline, words
from grader.judge.failure import Failure, may_be_one
from grader.judge.proxy import Learner, demand_value
from grader.judge.session import Session
from grader.records.bounded_cache import BoundedCache
from grader.sandbox.call_results import Call, Differs, LearnerError
from grader.sandbox.local import Local
from grader.worker import protocol, wire
from grader.worker.codec import Decoder
from grader.worker.protocol import Reply, Request
from grader.worker.wire import RawTensor

NOT, ALIKE, TO_THE_LETTER = 0, 1, 2  # how closely a failure is the learner's
Answer = tuple[Reply, list[RawTensor]]
CACHED = 64 << 20  # bytes of the answers of wrong versions
NONE: frozenset[str] = frozenset()


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


class Noting:
    """A connection that notes each request and its answer. learner: the proxy that uses it, which counts the calls."""

    learner: Learner
    is_alive = True

    def __init__(self, connection: Local):
        self.connection, self.source, self.words = connection, connection.source, connection.words
        self.noted: list[tuple[Request, list[RawTensor], Answer, int]] = []

    def exchange(self, request: Request, tensors: list[RawTensor], function: str = "") -> Answer:
        """The answer to one request."""
        answer = self.connection.handle(request, tensors)
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
        """How far a version answers as the learner's code did. load: loads it again."""
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
            answer = connection.handle(step.request, step.tensors)
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


@dataclass(frozen=True, eq=False)
class WrongVersion:
    """A known mistake, or two of them in one file.

    slug: the name of the module. compose: gives its source when it is first needed, as many are never run.
    definitions: the names of what it changes. failed: the checks that it fails, None where failed_checks.json does not
    list it; not_passed: these and those that wait for them. parts: the two of which it was made. changes: the lines of
    its diff.
    """

    name: str
    slug: str
    sentence: str
    compose: Callable[[], str]
    definitions: tuple[str, ...] = ()
    failed: frozenset[str] | None = None
    not_passed: frozenset[str] | None = None
    parts: tuple["WrongVersion", ...] = ()
    changes: tuple[str, ...] = ()

    @cached_property
    def source(self) -> str:
        """The whole file."""
        return self.compose()

    @cached_property
    def connection(self) -> Local:
        """The wrong version, loaded in this process."""
        return self.load()

    def load(self) -> Local:
        """Load it again. Raises RuntimeError or ValueError where it cannot be run."""
        return Local(self.source, f"{self.slug}.py", self.slug)

    @property
    def functions(self) -> tuple[str, ...]:
        """The names of the functions that it changes, without methods."""
        return tuple(name for name in self.definitions if "." not in name)

    @cached_property
    def changed(self) -> frozenset[str]:
        """The names of the functions and classes that it changes, or whose methods it changes."""
        return frozenset(name.partition(".")[0] for name in self.definitions)

    def may_fail(self, check: str) -> bool:
        """Whether it fails this check or does not reach it, as far as `make verify` has recorded it."""
        return self.not_passed is None or check in self.not_passed

    def broken(self, passed: set[str]) -> int:
        """How many checks that the learner's code passed it fails, as far as `make verify` has recorded it."""
        return len((self.failed or NONE) & passed)


class WrongVersions:
    """The wrong versions of one exercise in one session.

    caches_runs: each wrong version runs each check to its end once, and its answers are cached. That is faster for a
    class; for one submission it is faster to stop at the first answer that differs from the learner's.
    """

    def __init__(self, session: Session):
        self.session, self.caches_runs = session, False
        self._followed: dict[str, Following] = {}  # by check, of one submission
        self._traces: dict[tuple[WrongVersion, str], Trace] = {}  # of one submission
        self._runs: BoundedCache[tuple[str, str], tuple[BaseException | None, list[Call]]] = BoundedCache(CACHED)

    @cached_property
    def all(self) -> list[WrongVersion]:
        """Every known mistake of the exercise."""
        exercise = self.session.exercise
        listed = mistakes.failed_checks(exercise.folder)
        versions = []
        for mistake in mistakes.mistakes(exercise.folder):
            row = listed.get(mistake.name)
            versions.append(
                WrongVersion(
                    mistake.name,
                    exercise.slug,
                    mistake.sentence,
                    mistake.compose,
                    mistake.definitions,
                    failed=frozenset(row.failed) if row else None,
                    not_passed=row.checks if row else None,
                    changes=tuple(mistake.changes),
                )
            )
        return versions

    @cached_property
    def solution(self) -> WrongVersion:
        """The solution, as a version that makes no mistake."""
        text = paths.solution(self.session.exercise.folder).read_text("utf-8")
        return WrongVersion("", self.session.exercise.slug, "", lambda: text, (), NONE, NONE)

    def begin(self) -> None:
        """Begin with another submission."""
        self._followed, self._traces = {}, {}

    def explaining(self, candidates: Iterable[WrongVersion], failure: Failure) -> dict[WrongVersion, int]:
        """The candidates that explain the failure, each with the degree to which it does."""
        likeness = {version: self.trace(version, failure).degree for version in candidates}
        return {version: degree for version, degree in likeness.items() if degree != NOT}

    def trace(self, version: WrongVersion, failure: Failure) -> Trace:
        """How far a version answers as the learner's code did."""
        key = (version, failure.check.id)
        if key not in self._traces:
            if self.caches_runs and version.failed is not None:
                self._traces[key] = _trace(*self.run(version, failure.check), failure, version.source)
            else:
                following = self._followed.setdefault(failure.check.id, Following(self.session, failure))
                self._traces[key] = following.trace(version.connection, version.load)
        return self._traces[key]

    def run(self, version: WrongVersion, check: Check) -> tuple[BaseException | None, list[Call]]:
        """The error and the calls of a check on a wrong version. A cached run is not repeated."""
        key = (version.name, check.id)
        run = self._runs.get(key)
        if run is None:
            run = self.session.run(check, Learner(version.connection))
            self._runs.put(key, run)
        return run


def _call(request: Request, answer: Answer) -> Call:
    """An answer in the form that is compared."""
    reply, tensors = answer
    describes = isinstance(request, protocol.Describe)
    call = Call("", "", "describe" if describes else "")
    try:
        demand_value(reply)
        call.value = Decoder(tensors).value(reply.value)
        if reply.launches is not None:
            call.value = launched.answer(call.value, reply)
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


def _trace(error: BaseException | None, calls: list[Call], failure: Failure, source: str) -> Trace:
    """The trace of a run to its end."""
    for number, (call, learner_call) in enumerate(zip(calls, failure.calls, strict=False)):
        if differ(call, learner_call):
            return Trace(number, call)
    return Trace(min(len(calls), len(failure.calls)), None, degree(error, calls, failure, source))
