"""Probes: calls that the submission answers wrongly, with the solution's answers. Each candidate is asked one first.

A whole check takes several milliseconds. To load a candidate and ask it one call takes one or two, as many candidates
are sent ahead of their answers. A candidate with the right answer is then examined by the checks themselves.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from grader.catalog import paths
from grader.judge.collection import Check
from grader.judge.compare import same
from grader.judge.examiner import Examiner
from grader.judge.weak_examples import FRESH
from grader.judge.where.swapping import Swap
from grader.judge.where.trial import Trial
from grader.sandbox.recorder import Recorder
from grader.worker import protocol, wire
from grader.worker.codec import Decoder, Handle

BATCHES = (4, 8, 16)  # candidates that are sent together: few at first, as the likeliest come first
MAX_BYTES = 1 << 20  # of all requests of a probe
PROBED = (protocol.Call, protocol.CallWithInputs, protocol.CallForGradients, protocol.CallForGraph, protocol.Describe)
DESCRIPTION = {"parameters", "frozen", "training"}  # what is compared of a module; its submodules may differ
Item = TypeVar("Item")


@dataclass(frozen=True)
class Probe:
    """The requests of a check up to the first wrong answer, the right answer, and the names that are called.

    Of the requests before the last only those are kept that make or change an object.
    """

    check: Check
    requests: tuple[bytes, ...]
    expected: bytes
    names: frozenset[str]

    @property
    def cost(self) -> int:
        return sum(map(len, self.requests)) + 2000 * len(self.requests)

    def fits(self, body: bytes | bytearray) -> bool:
        """Whether an encoded reply is the right answer."""
        return equal_answers(body, self.expected)


def probes(examiner: Examiner, trial: Trial, checks: Iterable[Check]) -> dict[str, Probe]:
    """The probe of each check that has one, by the check's id."""
    path = paths.solution(examiner.exercise.folder)
    if not path.exists():
        return {}
    solution = Recorder.load(path, examiner.exercise.slug)
    solution.record()
    subject = examiner.subject(solution)
    by_check: dict[str, Probe] = {}
    for check in checks:
        if trial.is_over:
            break
        solution.record()
        examiner.session.run(check, subject)
        probe = _probe(check, solution, trial)
        if probe is not None:
            by_check[check.id] = probe
    return by_check


def sifted(trial: Trial, probe: Probe, source: str, candidates: Iterable[tuple[Item, Swap]]) -> Iterator[Item]:
    """The items whose changed definitions answer the probe rightly. Ends where the time is over.

    candidates: pairs of an item and its changed definition.
    """
    waiting, sizes = iter(candidates), itertools.chain(BATCHES, itertools.repeat(BATCHES[-1]))
    still_wanted = itertools.takewhile(lambda _: not trial.is_cancelled(), waiting)
    while not trial.is_over and (batch := list(itertools.islice(still_wanted, next(sizes)))):
        # All answers of a batch are received before the first is looked at.
        answers = list(trial.swapped(source, [swap for _, swap in batch], probe.requests))
        yield from (item for (item, _), answer in zip(batch, answers) if answer is not None and probe.fits(answer[-1]))


def are_of_drawing(failing: Sequence[Probe], passing: Iterable[Check]) -> bool:
    """Whether objects fail with the numbers that they draw, and pass with those that a check of the task loads.

    Then what is computed from them is right, though its values are others than the solution's.
    """
    kinds = {type(protocol.decode_request(body)[0]) for probe in failing for body in probe.requests}
    are_of_classes = all(name[:1].isupper() for probe in failing for name in probe.names)
    tasks = {check.task for check in passing if check.id.startswith(FRESH)}
    return protocol.Assign not in kinds and are_of_classes and bool(tasks & {probe.check.task for probe in failing})


def equal_answers(first_body: bytes | bytearray, second_body: bytes | bytearray) -> bool:
    """Whether two encoded replies are equal, as the checks compare values."""
    if first_body == second_body:
        return True
    try:
        first, second = _plain(first_body), _plain(second_body)
    except wire.ProtocolError:
        return False
    return first[:-1] == second[:-1] and same(first[-1], second[-1])


def _probe(check: Check, solution: Recorder, trial: Trial) -> Probe | None:
    requests = solution.transcript.requests
    right_replies = [reply for reply in solution.transcript.replies if not isinstance(reply, Exception)]
    if sum(map(len, requests)) > MAX_BYTES:
        return None
    decoded_requests = [protocol.decode_request(body)[0] for body in requests]
    answers = next(iter(trial.answers([trial.submission.source], requests)), None)
    if answers is None:
        return None
    wrong_numbers = [
        n
        for n, (a, b) in enumerate(zip(answers, right_replies))
        if type(decoded_requests[n]) in PROBED and not equal_answers(a, b)
    ]
    if not wrong_numbers:
        return None
    first = wrong_numbers[0]
    setup_numbers = [
        n for n in range(first) if type(decoded_requests[n]) not in PROBED or b'"object"' in right_replies[n][: 1 << 12]
    ]
    for numbers in ([*setup_numbers, first], [*range(first + 1)]):
        kept_requests = tuple(requests[n] for n in numbers)
        solution_answers = [solution.answer(*protocol.decode_request(body)) for body in kept_requests]
        own_answers = next(iter(trial.answers([trial.submission.source], kept_requests)), None)
        if (
            equal_answers(solution_answers[-1], right_replies[first])
            and own_answers is not None
            and not equal_answers(own_answers[-1], right_replies[first])
        ):
            targets = [request.target for request in decoded_requests if isinstance(request, protocol.Call)]
            names = frozenset(target[0] for target in targets if isinstance(target[0], str))
            return Probe(check, kept_requests, bytes(right_replies[first]), names)
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
