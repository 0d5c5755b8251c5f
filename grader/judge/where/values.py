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
from grader.judge.where.known_values import Known, Step, solution_steps
from grader.judge.where.marked_source import LOG, PUT, Mark, marked
from grader.judge.where.probes import Probe
from grader.judge.where.swapping import call
from grader.judge.where.trial import Trial
from grader.worker import protocol, wire
from grader.worker.codec import Decoder

PUT_IN = 16  # values that are tried in one place
TRIED = 100  # replacements in all, for one probe
PROBES = 2  # with which it is tried
ASKED = (protocol.Call, protocol.CallWithInputs)


@dataclass(frozen=True)
class Suspicion:
    """What the values of a run say.

    sure: the line that computes a wrong value from right ones, None where unknown; likely: the same where the solution
    computes its value from others that the learner's code does not have; right: the lines whose values are right;
    later: those after a value that may be wrong, and with which in the solution's form the answer is right.
    """

    sure: int | None = None
    likely: int | None = None
    right: frozenset[int] = frozenset()
    later: frozenset[int] = frozenset()


NOTHING = Suspicion()


class Values:
    """Compares the values of a submission's run with those of the solution's."""

    def __init__(self, examiner: Examiner, tree: Tree, trial: Trial):
        self.examiner, self.tree, self.trial = examiner, tree, trial

    def suspicion(self, group: Group, found: dict[str, Probe]) -> Suspicion:
        """What the values of the group's calls say: all of them must say it."""
        usable = [found[check.id] for check in group.checks if check.id in found]
        usable = [probe for probe in usable if type(protocol.decode_request(probe.requests[-1])[0]) in ASKED]
        if not usable or group.base:
            return NOTHING
        try:
            source, marks = marked(self.tree, group.units)
        except (ValueError, TypeError, AttributeError, RecursionError):
            return NOTHING
        tried = (self._of_probe(group, source, marks, probe) for probe in sorted(usable, key=_cost))
        each = list(itertools.islice((one for one in tried if one is not None), PROBES))
        if not each:
            return NOTHING
        sure, likely = {one.sure for one in each}, {one.likely for one in each}
        right = frozenset.intersection(*(one.right for one in each))
        later = frozenset.intersection(*(one.later for one in each))
        agreed = likely.pop() if len(likely) == 1 and len(each) == PROBES else None
        return Suspicion(sure.pop() if len(sure) == 1 else None, agreed, right, later)

    def _of_probe(self, group: Group, source: str, marks: list[Mark], probe: Probe) -> Suspicion | None:
        """The same of one call; None where it says nothing."""
        *before, asked = probe.requests
        requests = (*before, call(PUT, -1, 0), asked, call(LOG))
        answer = next(iter(self.trial.answers([source], requests)), None)
        run = _run(answer[-1], marks) if answer is not None and not probe.fits(answer[-2]) else []
        if not run:
            return None
        known = Known(solution_steps(self.examiner, probe))
        wrong = [n for n, (mark, value) in enumerate(run) if not (mark.is_input or known.holds(value))]
        trials = [(n, step) for n in wrong for step in known.instead_of(run[n][1])[:PUT_IN]][:TRIED]
        healing = self._healing(source, probe, [(run[n][0].number, step.value) for n, step in trials])
        healed = [trial for trial, heals in zip(trials, healing) if heals]
        right = frozenset(mark.line for mark, value in run if known.holds(value)) - {run[n][0].line for n in wrong}
        if not healed:
            return Suspicion(right=right)
        at, step = healed[0]
        first = run[at][0]
        later = frozenset(line for line in first.unit.lines if line > first.line)
        seen = Known([Step(value, ()) for _, value in run if isinstance(value, torch.Tensor)])
        likely = first.line if self._is_sure(group, run, at, known) else None
        return Suspicion(likely if all(map(seen.holds, step.inputs)) else None, likely, right, later)

    def _healing(self, source: str, probe: Probe, trials: list[tuple[int, torch.Tensor]]) -> list[bool]:
        """For each value in the place of a mark's, whether the probe is answered rightly."""
        *before, asked = probe.requests
        each = [request for number, value in trials for request in (call(PUT, number, value), asked)]
        answer = next(iter(self.trial.answers([source], (*before, *each))), None) if trials else None
        return [False] * len(trials) if answer is None else [probe.fits(body) for body in answer[len(before) + 1 :: 2]]

    def _is_sure(self, group: Group, run: list[tuple[Mark, Any]], at: int, right: "Known") -> bool:
        """Whether all that the statement reads is right. What `self` holds is in the one method that is to blame."""
        mark = run[at][0]
        if mark.uses_self and not (group.is_sure and mark.unit is group.units[0]):
            return False
        stored = {one.name for one in marks_of(run, mark)}
        for name in mark.reads & stored:
            earlier = [value for one, value in run[:at] if one.unit is mark.unit and one.name == name]
            if not earlier or not right.holds(earlier[-1]):
                return False
        unread = _locals(mark) - stored
        return not mark.reads & unread


def marks_of(run: list[tuple[Mark, Any]], mark: Mark) -> list[Mark]:
    """The marks of the same definition that were met."""
    return [one for one, _ in run if one.unit is mark.unit]


def _run(body: bytes | bytearray, marks: list[Mark]) -> list[tuple[Mark, Any]]:
    """The marks in the order in which they were met, with their values, without those that were met twice."""
    try:
        reply, tensors = protocol.decode_reply(body)
        log = Decoder(tensors).value(reply.value)
    except wire.ProtocolError:
        return []
    pairs = [one for one in log if isinstance(one, (list, tuple)) and len(one) == 2] if isinstance(log, list) else []
    times = Counter(number for number, _ in pairs if type(number) is int)
    return [(marks[n], value) for n, value in pairs if times[n] == 1 and 0 <= n < len(marks)]


def _cost(probe: Probe) -> int:
    return probe.cost


def _locals(mark: Mark) -> set[str]:
    """The names that the definition gives a value anywhere."""
    nodes = ast.walk(mark.unit.node)
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
