"""What is asked of every candidate first: one call that the submission answers wrongly, and the solution's answer.

To run a whole check takes several milliseconds; to load a candidate and to ask this one call takes one or two, as many
candidates are sent ahead of their answers. What gives the right answer is then examined by the checks themselves.
"""

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from grader.catalog import paths
from grader.judge.collection import Check
from grader.judge.compare import same
from grader.judge.examiner import Examiner
from grader.judge.where.swapping import Swap
from grader.judge.where.trial import Trial
from grader.sandbox.recorder import Recorder
from grader.worker import protocol, wire
from grader.worker.codec import Decoder, Handle

BATCHES = (4, 8, 16)  # candidates that are sent together: few at first, as the likeliest come first
MAX_BYTES = 1 << 20  # of all requests of a probe
ASKED = (protocol.Call, protocol.CallWithInputs, protocol.CallForGradients, protocol.CallForGraph, protocol.Describe)
DESCRIPTION = {"parameters", "frozen", "training"}  # of a module; other parts than the solution's are no mistake
Item = TypeVar("Item")


@dataclass(frozen=True)
class Probe:
    """The requests of a check up to the first wrong answer, what the right answer is, and the names that are asked for.

    Of the requests before it only those are kept that make or change an object.
    """

    check: Check
    requests: tuple[bytes, ...]
    expected: bytes
    names: frozenset[str]

    @property
    def cost(self) -> int:
        return sum(map(len, self.requests)) + 2000 * len(self.requests)

    def fits(self, body: bytes | bytearray) -> bool:
        """Whether an answer is the right one."""
        return alike(body, self.expected)


def probes(examiner: Examiner, trial: Trial, checks: Iterable[Check]) -> dict[str, Probe]:
    """The probe of each check that has one."""
    path = paths.solution(examiner.exercise.folder)
    if not path.exists():
        return {}
    solution = Recorder.load(path, examiner.exercise.slug)
    solution.record()
    subject = examiner.subject(solution)
    found: dict[str, Probe] = {}
    for check in checks:
        if trial.is_over:
            break
        solution.record()
        examiner.session.run(check, subject)
        probe = _probe(check, solution, trial)
        if probe is not None:
            found[check.id] = probe
    return found


def sifted(trial: Trial, probe: Probe, source: str, candidates: Iterable[tuple[Item, Swap]]) -> Iterator[Item]:
    """Of (what it is, the changed definition), what answers the probe rightly. Ends where the time is over."""
    waiting, sizes = iter(candidates), itertools.chain(BATCHES, itertools.repeat(BATCHES[-1]))
    still_wanted = itertools.takewhile(lambda _: not trial.is_cancelled(), waiting)
    while not trial.is_over and (batch := list(itertools.islice(still_wanted, next(sizes)))):
        # all answers are taken from the wire before one is looked at
        answers = list(trial.swapped(source, [swap for _, swap in batch], probe.requests))
        yield from (item for (item, _), answer in zip(batch, answers) if answer is not None and probe.fits(answer[-1]))


def alike(body: bytes | bytearray, other: bytes | bytearray) -> bool:
    """Whether two encoded replies say the same, as the checks compare."""
    if body == other:
        return True
    try:
        one, two = _plain(body), _plain(other)
    except wire.ProtocolError:
        return False
    return one[:-1] == two[:-1] and same(one[-1], two[-1])


def _probe(check: Check, solution: Recorder, trial: Trial) -> Probe | None:
    requests = solution.transcript.requests
    right = [reply for reply in solution.transcript.replies if not isinstance(reply, Exception)]
    if sum(map(len, requests)) > MAX_BYTES:
        return None
    asked = [protocol.decode_request(body)[0] for body in requests]
    answers = next(iter(trial.answers([trial.submission.source], requests)), None)
    if answers is None:
        return None
    wrong = [n for n, (a, b) in enumerate(zip(answers, right)) if type(asked[n]) in ASKED and not alike(a, b)]
    if not wrong:
        return None
    last = wrong[0]
    needed = [n for n in range(last) if type(asked[n]) not in ASKED or b'"object"' in right[n][: 1 << 12]]
    for kept in ([*needed, last], [*range(last + 1)]):
        short = tuple(requests[n] for n in kept)
        ours = [solution.answer(*protocol.decode_request(body)) for body in short]
        mine = next(iter(trial.answers([trial.submission.source], short)), None)
        if alike(ours[-1], right[last]) and mine is not None and not alike(mine[-1], right[last]):
            targets = [request.target for request in asked if isinstance(request, protocol.Call)]
            names = frozenset(target[0] for target in targets if isinstance(target[0], str))
            return Probe(check, short, bytes(right[last]), names)
    return None


def _plain(body: bytes | bytearray) -> tuple[Any, ...]:
    reply, tensors = protocol.decode_reply(body)
    value = _without_objects(Decoder(tensors).value(reply.value))
    if isinstance(value, dict) and value.keys() >= DESCRIPTION:
        value = {name: value[name] for name in sorted(DESCRIPTION)}
    error = reply.error and reply.error["type"]
    return error, reply.missing, bool(reply.signature), reply.gradient, bool(reply.hits), reply.computed, value


def _without_objects(value: Any) -> Any:
    if isinstance(value, Handle):
        return "an object"
    if isinstance(value, dict):
        return {key: _without_objects(item) for key, item in value.items()}
    return type(value)(map(_without_objects, value)) if type(value) in (list, tuple) else value
