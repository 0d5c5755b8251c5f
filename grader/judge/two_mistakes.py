"""Two known mistakes in one file: pairs that may explain what neither explains alone, the likeliest first."""

from collections import Counter
from collections.abc import Iterator
from itertools import combinations

from grader.catalog import patches
from grader.judge.both_answers import misfits
from grader.judge.failure import Failure
from grader.judge.wrong_versions import WrongVersion, WrongVersions
from grader.records.results import AND

LOOKED_AT = 4  # failed checks whose answers are compared
STEPS = 8  # into which the shares of misfits are divided; within a step, what fails least comes first


def candidates(
    versions: WrongVersions,
    failures: list[Failure],
    failed: set[str],
    passed: set[str],
    matched: Counter[WrongVersion],
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


def joined(versions: WrongVersions, first: WrongVersion, second: WrongVersion) -> WrongVersion | None:
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
