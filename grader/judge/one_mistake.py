"""Which known mistakes may explain the failures of a submission, each alone."""

from grader.judge.failure import Failure, is_blank
from grader.judge.following import TO_THE_LETTER
from grader.judge.wrong_versions import WrongVersion, WrongVersions

MAX_RUNS = 250  # of checks on wrong versions, for one submission


def candidates(versions: WrongVersions, failures: dict[str, Failure], passed: set[str]) -> list[WrongVersion]:
    """The wrong versions that explain a failure.

    One mistake usually explains several checks, so what explained one check is tried first on the next, and then
    the others by `_groups`. The number of runs is limited, so that code that nothing explains costs little time.
    """
    found: list[WrongVersion] = []
    ways: set[object] = set()  # in which the learner's functions failed
    left = MAX_RUNS
    for name, failure in failures.items():
        if failure.check.measured or versions.explaining(found, failure):
            continue
        alike: dict[WrongVersion, int] = {}
        groups = _groups(versions, name, set(failures), passed)
        for number, group in enumerate(groups[:2] if failure.way in ways else groups):
            if alike and (number > 1 or TO_THE_LETTER in alike.values()):
                break
            others = [wrong for wrong in group if wrong not in found][: max(left, 0)]
            left -= len(others)
            alike |= versions.explaining(others, failure)
        ways.add(failure.way)
        found += alike
    return found


def without_chance(
    matches: dict[str, list[WrongVersion]], failures: dict[str, Failure]
) -> dict[str, list[WrongVersion]]:
    """The matches without versions that are alike in nothing but NaN or errors, while the same is unexplained.

    Many mistakes end in NaN for large scores, or in an error of the same words; the one that does so in a check
    where this version does not is another.
    """
    weak = {name for name, failure in failures.items() if failure.raised or is_blank(failure)}
    unexplained = {failures[name].way for name in weak if not matches[name]}
    sound = {wrong for name, versions in matches.items() if name not in weak for wrong in versions}
    doubtful = {name for name in weak if failures[name].way in unexplained}
    return {
        name: [wrong for wrong in versions if name not in doubtful or wrong in sound]
        for name, versions in matches.items()
    }


def _groups(versions: WrongVersions, check: str, failed: set[str], passed: set[str]) -> list[list[WrongVersion]]:
    """The wrong versions that may fail a check, in the order in which they are tried.

    First those that fail the same checks as the learner's code, then those that fail none that it passed, and last
    the others. These are many and seldom the reason: they are tried on one check of all that fail in the same way.
    """
    left = [wrong for wrong in versions.all if wrong.may_fail(check)]
    same = [wrong for wrong in left if wrong.failed == frozenset(failed)]
    narrow = [wrong for wrong in left if wrong not in same and not wrong.broken(passed)]
    return [same, narrow, [wrong for wrong in left if wrong.broken(passed)]]
