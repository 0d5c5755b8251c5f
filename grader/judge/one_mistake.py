"""Finds the known mistakes that may explain failures of a submission, each alone."""

from grader.judge.failure import Failure, is_blank
from grader.judge.following import TO_THE_LETTER
from grader.judge.wrong_versions import WrongVersion, WrongVersions

MAX_RUNS = 250  # of checks on wrong versions, for one submission


def candidates(versions: WrongVersions, failures: dict[str, Failure], passed: set[str]) -> list[WrongVersion]:
    """The wrong versions that explain a failure.

    One mistake usually explains several checks, so what explained one check is tried first on the next, and then
    the others by `_groups`. The number of runs is limited, so that code that nothing explains costs little time.
    """
    explaining: list[WrongVersion] = []
    known_ways: set[object] = set()  # in which the learner's functions failed
    remaining_runs = MAX_RUNS
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
        known_ways.add(failure.way)
        explaining += explaining_this
    return explaining


def without_chance(
    matches: dict[str, list[WrongVersion]], failures: dict[str, Failure]
) -> dict[str, list[WrongVersion]]:
    """The matches without versions that are alike in nothing but NaN or errors, while the same is unexplained.

    Many mistakes end in NaN for large scores, or in an error of the same words; the one that does so in a check
    where this version does not is another.
    """
    weak = {name for name, failure in failures.items() if failure.raised or is_blank(failure)}
    unexplained = {failures[name].way for name in weak if not matches[name]}
    sound = {version for name, versions in matches.items() if name not in weak for version in versions}
    doubtful = {name for name in weak if failures[name].way in unexplained}
    return {
        name: [version for version in versions if name not in doubtful or version in sound]
        for name, versions in matches.items()
    }


def without_disproved(
    matches: dict[str, list[WrongVersion]], failures: dict[str, Failure]
) -> dict[str, list[WrongVersion]]:
    """The matches without versions that are alike in an error alone, where the function's other answers are not theirs.

    These answers are explained by other versions, of which none is the one in doubt or made of it.
    """
    shown = {name: failure for name, failure in failures.items() if not failure.raised and matches.get(name)}

    def is_disproved(wrong: WrongVersion, raised: Failure) -> bool:
        of_function = [name for name, failure in shown.items() if failure.last_called == raised.last_called]
        others = filter(wrong.may_fail, of_function)
        return any(not any(wrong is one or wrong in one.parts for one in matches[name]) for name in others)

    return {
        name: [one for one in versions if not (failures[name].raised and is_disproved(one, failures[name]))]
        for name, versions in matches.items()
    }


def _groups(versions: WrongVersions, check: str, failed: set[str], passed: set[str]) -> list[list[WrongVersion]]:
    """The wrong versions that may fail a check, in the order in which they are tried.

    First those that fail the same checks as the learner's code, then those that fail none that it passed, and last
    the others. These are many and seldom the reason: they are tried on one check of all that fail in the same way.
    """
    remaining = [version for version in versions.all if version.may_fail(check)]
    failing_the_same = [version for version in remaining if version.failed == frozenset(failed)]
    narrow = [version for version in remaining if version not in failing_the_same and not version.broken(passed)]
    return [failing_the_same, narrow, [version for version in remaining if version.broken(passed)]]
