"""Two known mistakes in one file: pairs that may explain what neither explains alone, the likeliest first."""

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

from grader.catalog import overlay
from grader.catalog.merging import merged
from grader.judge.failure import Failure
from grader.judge.wrong_versions import WrongVersion, WrongVersions
from grader.records.results import AND
from grader.sandbox.local import Local


def candidates(
    versions: WrongVersions, failure: Failure, failed: set[str], passed: set[str], known: set[WrongVersion]
) -> Iterator[tuple[WrongVersion, WrongVersion]]:
    """The pairs that may explain why a check fails, the likeliest first.

    Neither fails a check that passed; together they fail all that failed. Both fail this check, or one does and the
    other explains another check already (`known`): a check that compares the learner's answers with each other passes
    for a mistake which changes them all alike, and yet its calls are answered otherwise. First come the pairs with a
    known one, then those whose mistakes each fail the check in the way it failed (wrong values, say, and no exception),
    then those that fail least.
    """
    check = failure.check.id
    likely = [(one, one.failed) for one in versions.all if one.failed and not one.failed & passed]

    def may_explain(one: WrongVersion, reach: frozenset[str], other: WrongVersion, others: frozenset[str]) -> bool:
        if not failed <= reach | others or check not in reach | others:
            return False
        return (check in reach or one in known) and (check in others or other in known)

    pairs = [(one, other) for one, other in combinations(likely, 2) if may_explain(*one, *other)]

    other_way = {one for one in {one for pair in pairs for one, _ in pair} if not versions.fails_so(one, failure)}

    def rank(pair: tuple[tuple[WrongVersion, frozenset[str]], ...]) -> tuple[int, int, int]:
        versions, reaches = zip(*pair, strict=True)
        return -len(known & {*versions}), len(other_way & {*versions}), sum(map(len, reaches))

    for (one, _), (other, _) in sorted(pairs, key=rank):
        yield one, other


def joined(solution: Path, slug: str, one: WrongVersion, other: WrongVersion) -> WrongVersion | None:
    """The file that makes both mistakes; None where they cannot be made together."""
    source = solution.read_text("utf-8")
    changes = merged(source, one.overlay, other.overlay)
    if changes is None:
        return None
    try:
        connection = Local(overlay.compose(source, changes), solution.name, slug)
    except (ValueError, RuntimeError):
        return None
    sentence = AND.join((one.sentence, other.sentence))
    return WrongVersion(f"{one.name} + {other.name}", sentence, "", None, lambda: connection)
