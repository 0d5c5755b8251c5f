"""Finds the known mistakes that may explain failed checks: each alone, then two in one file, the likeliest first.

What explains a special input alone, while the same function fails otherwise, is tried again with other values.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import torch

from grader.catalog import patches
from grader.judge.compare import TOLERANCE, close, outline
from grader.judge.failure import Failure
from grader.judge.proxy import tensors_in
from grader.judge.words import is_plain
from grader.judge.wrong_versions import TO_THE_LETTER, Trace, WrongVersion, WrongVersions
from grader.records.results import AND
from grader.sandbox.call_results import Call

MAX_VALUES = 4096  # of an answer that are compared
NEVER = 2.0  # greater than each share of values
LOOKED_AT = 4  # failed checks whose answers are compared
STEPS = 8  # into which the shares of misfits are divided; within a step, what fails least comes first
MAX_RUNS = 250  # of checks on wrong versions, for one submission


def misfits(right: Trace, traces: list[Trace], failure: Failure) -> torch.Tensor:
    """The share of the learner's values that do not fit, for each pair of mistakes. Shape (mistakes, mistakes).

    right: the solution's trace. The first wrong answer of the learner's is compared. A pair gets NEVER where one of the
    two changes an earlier answer, or where neither has an answer of the learner's form.
    """
    shares = torch.full((len(traces), len(traces)), NEVER)
    if right.other is None or right.alike >= len(failure.calls):
        return shares.zero_()
    learner_call = failure.calls[right.alike]
    calls = [learner_call if trace.alike > right.alike else trace.other for trace in traces]
    usable = [trace.alike >= right.alike and call is not None for trace, call in zip(traces, calls, strict=True)]
    forms = [form(call) if call is not None else None for call in calls]
    learner_form, right_form = form(learner_call), form(right.other)
    in_form = torch.tensor([fits and got == learner_form for fits, got in zip(usable, forms, strict=True)])
    if right_form != learner_form:
        as_right = torch.tensor([fits and got == right_form for fits, got in zip(usable, forms, strict=True)])
        one_each = in_form[:, None] & (in_form | as_right)
        return torch.where(one_each | one_each.mT, 0.0, shares)
    values, solution = _values(learner_call), _values(right.other)
    chosen = [number for number, is_in_form in enumerate(in_form) if is_in_form]
    if not chosen or not len(values):
        return shares.where(~(in_form[:, None] & in_form), torch.zeros(()))
    answers = torch.stack([_values(call) for number in chosen if (call := calls[number]) is not None])
    dtype = next(tensor.dtype for tensor in _tensors(learner_call.value))
    room = TOLERANCE.get(dtype, (0.0, 0.0))
    keeps_right, is_learners = close(answers, solution, *room).double(), close(answers, values, *room).double()
    is_wrong = (~close(values, solution, *room)).double()
    # One mistake leaves the value right, and the other one's value is the learner's.
    explained_by_one = keeps_right @ ((1 - keeps_right) * is_learners).mT
    fitting = (
        keeps_right @ (keeps_right * is_learners).mT
        + 2 * (explained_by_one + explained_by_one.mT)
        + ((1 - keeps_right) * is_wrong) @ (1 - keeps_right).mT
    )
    numbers = torch.tensor(chosen)
    shares[numbers[:, None], numbers] = (1 - fitting / len(values)).float()
    return shares


def form(call: Call) -> Any:
    """The form of an answer. Only the values of answers of equal form can be compared."""
    if call.problem is not None:
        return outline(call.problem)
    return [(tuple(tensor.shape), tensor.dtype) for tensor in _tensors(call.value)] or type(call.value)


def pairs(
    versions: WrongVersions, failures: list[Failure], failed: set[str], passed: set[str], matched: Counter[WrongVersion]
) -> Iterator[tuple[WrongVersion, WrongVersion]]:
    """The pairs that may explain why the first of these checks fails, the likeliest first.

    Neither fails a check that passed; together they fail all that failed, and one of them this one. First come the
    pairs with a known one, which explains another check already, then those that both fail this check: a check that
    compares the learner's answers with each other passes for a mistake which changes them all alike, and yet its calls
    are answered otherwise. Of these come first those whose answers fit the learner's best, then those that explain most
    alone, then those that fail least. matched: the versions that explain a check alone, and how many checks.
    """
    check = failures[0].check.id
    usable = [(one, one.not_passed) for one in versions.all if one.not_passed and not one.not_passed & passed]

    pairs = [(one, other) for one, other in combinations(usable, 2) if {*failed, check} <= one[1] | other[1]]
    if not pairs:
        return
    number = {one: place for place, one in enumerate(dict.fromkeys(one for pair in pairs for one, _ in pair))}
    misfit = [[0.0] * len(number) for _ in number]
    for failure in failures[:LOOKED_AT]:
        right = versions.trace(versions.solution, failure)
        fails = [failure is failures[0] or one.may_fail(failure.check.id) for one in number]
        traces = [versions.trace(one, failure) if it else right for one, it in zip(number, fails, strict=True)]
        for row, found in zip(misfit, misfits(right, traces, failure).tolist(), strict=True):
            row[:] = [sum(shares) for shares in zip(row, found, strict=True)]

    def rank(pair: tuple[tuple[WrongVersion, frozenset[str]], ...]) -> tuple[int, bool, int, int, int]:
        (one, reach), (other, others) = pair
        share = misfit[number[one]][number[other]]
        silent = {version for version, checks in pair if check not in checks} - matched.keys()
        alone = matched[one] + matched[other]
        return -len(matched.keys() & {one, other}), bool(silent), round(share * STEPS), -alone, len(reach) + len(others)

    for (one, _), (other, _) in sorted(pairs, key=rank):
        yield one, other


def join(versions: WrongVersions, first: WrongVersion, second: WrongVersion) -> WrongVersion | None:
    """The file that makes both mistakes; None where they cannot be made together."""
    source = patches.merge(versions.solution.source, first.source, second.source)
    if source is None:
        return None
    name, sentence = f"{first.name} + {second.name}", AND.join((first.sentence, second.sentence))
    definitions = tuple(dict.fromkeys(first.definitions + second.definitions))
    try:
        joined_version = WrongVersion(name, first.slug, sentence, lambda: source, definitions, parts=(first, second))
        return joined_version if joined_version.connection else None
    except (ValueError, RuntimeError):
        return None


def singles(versions: WrongVersions, failures: dict[str, Failure], passed: set[str]) -> list[WrongVersion]:
    """The wrong versions that explain a failure.

    One mistake usually explains several checks, so what explained one check is tried first on the next, and then
    the others by `_groups`. The number of runs is limited, so that code that nothing explains costs little time.
    """
    explaining: list[WrongVersion] = []
    known_ways: set[object] = set()  # in which the learner's functions failed
    # A kernel that is interpreted takes several times as long as a call of torch.
    remaining_runs = MAX_RUNS // 2 if versions.session.exercise.limits.needs else MAX_RUNS
    for name, failure in failures.items():
        if failure.check.measured or versions.explaining(explaining, failure):
            continue
        explaining_this: dict[WrongVersion, int] = {}
        groups = _groups(versions, name, set(failures), passed)
        for number, group in enumerate(groups[:2] if failure.way in known_ways else groups):
            if explaining_this and (number > 1 or TO_THE_LETTER in explaining_this.values()):
                break
            untried = [version for version in group if version not in explaining][: max(remaining_runs, 0)]
            remaining_runs -= len(untried)
            explaining_this |= versions.explaining(untried, failure)
        else:
            known_ways.add(failure.way)
        explaining += explaining_this
    return explaining


def _tensors(value: object) -> list[torch.Tensor]:
    """The tensors in an answer whose numbers can be compared."""
    return [tensor for tensor in tensors_in(value) if is_plain(tensor) and tensor.device.type != "meta"]


def _values(call: Call) -> torch.Tensor:
    """An even sample of the numbers in an answer."""
    tensors = [] if call.problem is not None else _tensors(call.value)
    flat = torch.cat([tensor.detach().flatten().double() for tensor in tensors]) if tensors else torch.zeros(0).double()
    return flat[:: max(1, -(-len(flat) // MAX_VALUES))]


def _groups(versions: WrongVersions, check: str, failed: set[str], passed: set[str]) -> list[list[WrongVersion]]:
    """The wrong versions that may fail a check, in the order in which they are tried.

    First those that fail the same checks as the learner's code, then those that fail none that it passed, and last
    the others. These are many and seldom the reason: they are tried on one check of all that fail in the same way.
    """
    remaining = [version for version in versions.all if version.may_fail(check)]
    failing_the_same = [version for version in remaining if version.failed == frozenset(failed)]
    narrow = [version for version in remaining if version not in failing_the_same and not version.broken(passed)]
    return [failing_the_same, narrow, [version for version in remaining if version.broken(passed)]]
