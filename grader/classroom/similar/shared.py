"""Finds which submissions for one exercise share rare fingerprints, by an inverted index."""

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

LEAST_SHARE = 0.5  # of the smaller submission's own fingerprints
COMMON, FEW = 0.1, 6  # a fingerprint is common if more than this share of the class has it, and more than these few
MOST_GROUPS = 300  # a fingerprint of more groups is not looked up: it says too little for the time it takes
ALL_PAIRS = 8  # of so many equal submissions every pair is listed; of more, each with the first

Agreeing = tuple[int, int, float, float]  # the places of two submissions, their score and their weight


def agreeing(prints: Sequence[frozenset[int]], excluded: frozenset[int] = frozenset()) -> Iterator[Agreeing]:
    """(i, j, score, weight) for each two submissions i < j that share enough.

    prints: the fingerprints of each submission; excluded: fingerprints that do not count. Only submissions that share a
    rare fingerprint are compared.
    """
    frequency = Counter(itertools.chain.from_iterable(prints))
    limit = max(FEW, COMMON * len(prints))
    groups: dict[frozenset[int], list[int]] = defaultdict(list)  # submissions by their own fingerprints
    for place, all_prints in enumerate(prints):
        groups[frozenset(p for p in all_prints if frequency[p] <= limit and p not in excluded)].append(place)
    groups.pop(frozenset(), None)
    rarity = _Rarity(len(prints), frequency)
    index: dict[int, list[int]] = defaultdict(list)  # fingerprint → the numbers of its groups
    for number, group in enumerate(groups):
        for print_ in group:
            if frequency[print_] > 1:
                index[print_].append(number)
    numbered = list(groups.items())
    for number, (group, members) in enumerate(numbered):
        yield from _among(members, 1.0, sum(map(rarity, group)))
        weights: defaultdict[int, float] = defaultdict(float)
        shared: Counter[int] = Counter()
        for print_ in group:
            others = index.get(print_, ())
            if len(others) <= MOST_GROUPS:
                for other in others:
                    if other > number:
                        weights[other] += rarity(print_)
                        shared[other] += 1
        for other, hits in shared.items():
            score = hits / min(len(group), len(numbered[other][0]))
            if score >= LEAST_SHARE:
                yield from _between(members, numbered[other][1], score, weights[other])


class _Rarity(dict[int, float]):
    """The weight of a fingerprint: 1 where only two submissions have it, and less the more have it."""

    def __init__(self, students: int, frequency: Counter[int]) -> None:
        self.whole, self.frequency = math.log2(students + 1), frequency

    def __call__(self, print_: int) -> float:
        return self[self.frequency[print_]]

    def __missing__(self, count: int) -> float:
        others = max(count - 1, 1)
        self[count] = 1 - math.log2(others) / self.whole if self.whole else 0.0
        return self[count]


def _among(members: list[int], score: float, weight: float) -> Iterator[Agreeing]:
    """The pairs within one group."""
    if len(members) <= ALL_PAIRS:
        for i, j in itertools.combinations(members, 2):
            yield i, j, score, weight
    else:
        for j in members[1:]:
            yield members[0], j, score, weight


def _between(some: list[int], others: list[int], score: float, weight: float) -> Iterator[Agreeing]:
    """The pairs of members of two groups."""
    if len(some) * len(others) > ALL_PAIRS**2:
        some, others = some[:1], others[:1]
    for i, j in itertools.product(some, others):
        yield min(i, j), max(i, j), score, weight
