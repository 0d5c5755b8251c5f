"""Which statement computes a wrong value from right ones? The solution's values are put in the place of the learner's.

A statement whose inputs all occur in the solution's run, and after which the check's call is answered rightly once its
value is replaced by one of the solution's, holds the mistake, however it would be mended.

Value replacement: Jeffrey, Gupta and Gupta 2008 (ISSTA, "Fault localization using value replacement").
"""

import ast
import itertools
from collections import Counter
from dataclasses import dataclass
from typing import Any

import torch

from grader.judge.examiner import Examiner
from grader.judge.where.blame import Group
from grader.judge.where.edits import Tree
from grader.judge.where.known_values import KnownValues, Step, solution_steps
from grader.judge.where.marked_source import LOG, PUT, Mark, marked
from grader.judge.where.probes import Probe
from grader.judge.where.swapping import call
from grader.judge.where.trial import Trial
from grader.worker import protocol, wire
from grader.worker.codec import Decoder

MAX_VALUES = 16  # values that are tried in one place
MAX_TRIALS = 100  # replacements in all, for one probe
PROBES = 2  # probes of a group that are looked at
PROBED = (protocol.Call, protocol.CallWithInputs)  # the kinds of requests whose run can be read


@dataclass(frozen=True)
class Suspicion:
    """What the values of a run say.

    certain_line: the line that computes a wrong value from right ones, None where unknown. likely_line: the same where
    the solution computes its value from others that the learner's code does not have. right_lines: the lines whose
    values are right. later_lines: the lines after a value that may be wrong: with the solution's value in its place the
    answer is right.
    """

    certain_line: int | None = None
    likely_line: int | None = None
    right_lines: frozenset[int] = frozenset()
    later_lines: frozenset[int] = frozenset()


NOTHING = Suspicion()


class Values:
    """Compares the values of a submission's run with those of the solution's."""

    def __init__(self, examiner: Examiner, tree: Tree, trial: Trial):
        self.examiner, self.tree, self.trial = examiner, tree, trial

    def suspicion(self, group: Group, probes_by_check: dict[str, Probe]) -> Suspicion:
        """What the values of the group's calls say: all of them must say it."""
        usable = [probes_by_check[check.id] for check in group.checks if check.id in probes_by_check]
        usable = [probe for probe in usable if type(protocol.decode_request(probe.requests[-1])[0]) in PROBED]
        if not usable or group.base:
            return NOTHING
        try:
            source, marks = marked(self.tree, group.units)
        except (ValueError, TypeError, AttributeError, RecursionError):
            return NOTHING
        of_probes = (self._of_probe(group, source, marks, probe) for probe in sorted(usable, key=_cost))
        suspicions = list(itertools.islice((found for found in of_probes if found is not None), PROBES))
        if not suspicions:
            return NOTHING
        certain, likely = {found.certain_line for found in suspicions}, {found.likely_line for found in suspicions}
        right = frozenset.intersection(*(found.right_lines for found in suspicions))
        later = frozenset.intersection(*(found.later_lines for found in suspicions))
        agreed = likely.pop() if len(likely) == 1 and len(suspicions) == PROBES else None
        return Suspicion(certain.pop() if len(certain) == 1 else None, agreed, right, later)

    def _of_probe(self, group: Group, source: str, marks: list[Mark], probe: Probe) -> Suspicion | None:
        """What the values of one call say; None where they say nothing."""
        *earlier_requests, last_request = probe.requests
        requests = (*earlier_requests, call(PUT, -1, 0), last_request, call(LOG))
        answer = next(iter(self.trial.answers([source], requests)), None)
        run = _run(answer[-1], marks) if answer is not None and not probe.fits(answer[-2]) else []
        if not run:
            return None
        known = KnownValues(solution_steps(self.examiner, probe))
        wrong_numbers = [n for n, (mark, value) in enumerate(run) if not (mark.is_input or known.holds(value))]
        trials = [(n, step) for n in wrong_numbers for step in known.replacements_of(run[n][1])[:MAX_VALUES]][
            :MAX_TRIALS
        ]
        healing = self._healing(source, probe, [(run[n][0].number, step.value) for n, step in trials])
        healed = [trial for trial, heals in zip(trials, healing) if heals]
        right_lines = frozenset(mark.line for mark, value in run if known.holds(value))
        right_lines -= {run[n][0].line for n in wrong_numbers}
        if not healed:
            return Suspicion(right_lines=right_lines)
        healed_number, step = healed[0]
        healed_mark = run[healed_number][0]
        later_lines = frozenset(line for line in healed_mark.unit.lines if line > healed_mark.line)
        own_values = KnownValues([Step(value, ()) for _, value in run if isinstance(value, torch.Tensor)])
        likely_line = healed_mark.line if self._is_sure(group, run, healed_number, known) else None
        certain_line = likely_line if all(map(own_values.holds, step.inputs)) else None
        return Suspicion(certain_line, likely_line, right_lines, later_lines)

    def _healing(self, source: str, probe: Probe, trials: list[tuple[int, torch.Tensor]]) -> list[bool]:
        """For each replacement of a mark's value, whether the probe is answered rightly with it.

        trials: the numbers of the marks, and the values that replace theirs.
        """
        *earlier_requests, last_request = probe.requests
        if not trials:
            return []
        requests = [request for number, value in trials for request in (call(PUT, number, value), last_request)]
        answer = next(iter(self.trial.answers([source], (*earlier_requests, *requests))), None)
        if answer is None:
            return [False] * len(trials)
        return [probe.fits(body) for body in answer[len(earlier_requests) + 1 :: 2]]

    def _is_sure(self, group: Group, run: list[tuple[Mark, Any]], number: int, solution_values: "KnownValues") -> bool:
        """Whether all that the statement at this place of the run reads is right.

        Attributes of `self` count as right where the one method that is to blame is known.
        """
        mark = run[number][0]
        if mark.uses_self and not (group.is_sure and mark.unit is group.units[0]):
            return False
        stored = {other_mark.name for other_mark in marks_of(run, mark)}
        for name in mark.reads & stored:
            values_before = [
                value for other_mark, value in run[:number] if other_mark.unit is mark.unit and other_mark.name == name
            ]
            if not values_before or not solution_values.holds(values_before[-1]):
                return False
        unread = _locals(mark) - stored
        return not mark.reads & unread


def marks_of(run: list[tuple[Mark, Any]], mark: Mark) -> list[Mark]:
    """The marks of the same definition that were met."""
    return [met_mark for met_mark, _ in run if met_mark.unit is mark.unit]


def _run(body: bytes | bytearray, marks: list[Mark]) -> list[tuple[Mark, Any]]:
    """The marks in the order in which they were met, with their values, without those that were met twice."""
    try:
        reply, tensors = protocol.decode_reply(body)
        log = Decoder(tensors).value(reply.value)
    except wire.ProtocolError:
        return []
    entries = log if isinstance(log, list) else []
    pairs = [entry for entry in entries if isinstance(entry, (list, tuple)) and len(entry) == 2]
    times = Counter(number for number, _ in pairs if type(number) is int)
    return [(marks[n], value) for n, value in pairs if times[n] == 1 and 0 <= n < len(marks)]


def _cost(probe: Probe) -> int:
    return probe.cost


def _locals(mark: Mark) -> set[str]:
    """The names that the definition gives a value anywhere."""
    nodes = ast.walk(mark.unit.node)
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
