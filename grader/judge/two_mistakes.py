"""Two known mistakes in one file: pairs that may explain what neither explains alone, the likeliest first."""

from collections.abc import Iterable, Iterator
from itertools import combinations
from pathlib import Path

from grader.catalog import overlay
from grader.catalog.merging import merged
from grader.judge.wrong_versions import WrongVersion
from grader.records.results import AND
from grader.sandbox.local import Local


def candidates(
    versions: Iterable[WrongVersion], check: str, failed: set[str], passed: set[str], known: set[WrongVersion]
) -> Iterator[tuple[WrongVersion, WrongVersion]]:
    """The pairs that may explain why a check fails, the likeliest first.

    Both fail this check: where one passes it, the pair fails it as the other alone, which was tried. Neither fails a
    check that passed; together they fail all that failed. First come those of which one explains another check already
    (`known`), then those that fail least.
    """
    likely = [(one, one.failed) for one in versions if one.failed and check in one.failed and not one.failed & passed]
    pairs = [(one, other) for one, other in combinations(likely, 2) if failed <= one[1] | other[1]]

    def rank(pair: tuple[tuple[WrongVersion, frozenset[str]], ...]) -> tuple[int, int]:
        return -sum(one in known for one, _ in pair), sum(len(reach) for _, reach in pair)

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
