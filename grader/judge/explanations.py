"""Finds the known mistakes that may explain failed checks: each alone, then two in one file, the likeliest first."""

from collections import Counter
from collections.abc import Iterator
from itertools import combinations

from grader.catalog import patches
from grader.judge.failure import Failure
from grader.judge.wrong_versions import TO_THE_LETTER, WrongVersion, WrongVersions
from grader.records.results import AND

MAX_RUNS = 250  # of checks on wrong versions, for one submission


def pairs(
    versions: WrongVersions, check: str, failed: set[str], passed: set[str], matched: Counter[WrongVersion]
) -> Iterator[tuple[WrongVersion, WrongVersion]]:
    """The pairs that may explain why this check fails, the likeliest first.

    Neither fails a check that passed; together they fail all that failed, and one of them this one. First come the
    pairs with a known one, which explains another check already, then those that both fail this check: a check that
    compares the learner's answers with each other passes for a mistake which changes them all alike, and yet its calls
    are answered otherwise. Of these come first those that explain most alone, then those that fail least. matched: the
    versions that explain a check alone, and how many checks.
    """
    usable = [(one, one.not_passed) for one in versions.all if one.not_passed and not one.not_passed & passed]
    pairs = [(one, other) for one, other in combinations(usable, 2) if {*failed, check} <= one[1] | other[1]]

    def rank(pair: tuple[tuple[WrongVersion, frozenset[str]], ...]) -> tuple[int, bool, int, int]:
        (one, reach), (other, others) = pair
        silent = {version for version, checks in pair if check not in checks} - matched.keys()
        alone = matched[one] + matched[other]
        return -len(matched.keys() & {one, other}), bool(silent), -alone, len(reach) + len(others)

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


def _groups(versions: WrongVersions, check: str, failed: set[str], passed: set[str]) -> list[list[WrongVersion]]:
    """The wrong versions that may fail a check, in the order in which they are tried.

    First those that fail the same checks as the learner's code, then those that fail none that it passed, and last
    the others. These are many and seldom the reason: they are tried on one check of all that fail in the same way.
    """
    remaining = [version for version in versions.all if version.may_fail(check)]
    failing_the_same = [version for version in remaining if version.failed == frozenset(failed)]
    narrow = [version for version in remaining if version not in failing_the_same and not version.broken(passed)]
    return [failing_the_same, narrow, [version for version in remaining if version.broken(passed)]]
