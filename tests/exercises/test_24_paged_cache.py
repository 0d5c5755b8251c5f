"""What is done to the figure of exercise 24, and what must come out."""

import random

import pytest
import torch
from figure_case import TO_LESSON, Case
from truths import load

exercise = load("24")


def lists_of(cache, sequences):
    """The keys and values of each sequence, gathered slot by slot."""
    size = cache.keys.shape[1]
    found = {}
    for sequence in sequences:
        table = cache.block_table(sequence)
        slots = [(table[place // size], place % size) for place in range(cache.length(sequence))]
        found[sequence] = [(cache.keys[slot].tolist(), cache.values[slot].tolist()) for slot in slots]
    return found


@pytest.mark.parametrize("seed", range(20))
def test_a_random_life_keeps_what_was_written(seed):
    """Appends, forks and releases at random: each sequence holds what it was given, and blocks are counted right."""
    draw = random.Random(seed)
    torch.manual_seed(seed)
    size, blocks = draw.choice([1, 2, 3, 4, 7]), draw.choice([6, 12, 30])
    cache = exercise.PagedCache(blocks, size, 2, 3)
    pools, written = (cache.keys, cache.values), {}
    for _ in range(80):
        kind, there = draw.choice(["append"] * 4 + ["fork", "release"]), list(written)
        if kind == "append":
            sequence, tokens = draw.choice([*there, draw.randrange(-5, 9)]), draw.randrange(1, 8)
            keys, values = torch.randn(2, tokens, 3), torch.randn(2, tokens, 3)
            before = cache.keys.clone(), cache.num_free, lists_of(cache, there)
            old = written.get(sequence, [])
            table = cache.block_table(sequence) if sequence in written else []
            others = [block for one in there if one != sequence for block in cache.block_table(one)]
            copies = len(old) % size > 0 and table[-1] in others
            needed = -(-(len(old) + tokens) // size) - len(table) + copies
            if needed > cache.num_free:
                with pytest.raises(RuntimeError):
                    cache.append(sequence, keys, values)
                assert torch.equal(cache.keys, before[0]) and cache.num_free == before[1]
                assert lists_of(cache, there) == before[2]
            else:
                cache.append(sequence, keys, values)
                new = [(keys[:, t].tolist(), values[:, t].tolist()) for t in range(tokens)]
                written[sequence] = old + new
                assert cache.num_free == before[1] - needed
        elif kind == "fork" and there:
            parent, child = draw.choice(there), draw.randrange(-5, 9)
            if child in written:
                with pytest.raises(ValueError):
                    cache.fork(parent, child)
            else:
                cache.fork(parent, child)
                written[child] = list(written[parent])
        elif kind == "release" and there:
            sequence = draw.choice(there)
            cache.release(sequence)
            del written[sequence]
        assert lists_of(cache, written) == written
        held = {block for sequence in written for block in cache.block_table(sequence)}
        assert cache.num_free == blocks - len(held)
        assert cache.keys is pools[0] and cache.values is pools[1]


def paged(lengths, heads, num_kv_heads, h, size):
    """Queries, pools with NaN wherever nothing is, tables, lengths, and each sequence in one piece."""
    counts = [-(-length // size) for length in lengths]
    order = torch.randperm(sum(counts) + 3).tolist()
    pools = torch.full((2, len(order), size, num_kv_heads, h), torch.nan, dtype=torch.float64)
    tables, whole = torch.full((len(lengths), max(counts)), -1), []
    for row, (length, count) in enumerate(zip(lengths, counts, strict=True)):
        blocks = [order.pop() for _ in range(count)]
        tables[row, :count] = torch.tensor(blocks)
        both = torch.randn(2, length, num_kv_heads, h, dtype=torch.float64)
        for place in range(length):
            pools[:, blocks[place // size], place % size] = both[:, place]
        whole.append(both)
    queries = torch.randn(len(lengths), heads, h, dtype=torch.float64)
    return [queries, *pools, tables, torch.tensor(lengths)], whole


@pytest.mark.parametrize("size", [1, 2, 5, 16])
@pytest.mark.parametrize("heads, num_kv_heads", [(1, 1), (4, 4), (6, 2), (4, 1)])
def test_it_is_torchs_attention_of_each_sequence(size, heads, num_kv_heads):
    torch.manual_seed(27)
    inputs, whole = paged([1, 5, 16, 17, 3], heads, num_kv_heads, 8, size)
    rows = [
        torch.nn.functional.scaled_dot_product_attention(
            query[:, None], *(part.transpose(0, 1) for part in both), enable_gqa=True
        )[:, 0]
        for query, both in zip(inputs[0], whole, strict=True)
    ]
    torch.testing.assert_close(exercise.paged_attention(*inputs), torch.stack(rows))


def family(prompt: int = 6, size: int = 4, children: int = 2, written: int | None = None) -> dict[str, torch.Tensor]:
    """A prompt and its children in the solution's cache, after so many of them wrote a token, all by default."""
    cache = exercise.PagedCache(40, size, 1, 1)
    token = torch.ones(1, 1, 1)
    cache.append(0, *[token.expand(1, prompt, 1)] * 2)
    for child in range(1, children + 1):
        cache.fork(0, child)
    for sequence in [*range(1, children + 1), 0][:written]:
        cache.append(sequence, token, token)
    return {"block tables": torch.tensor([cache.block_table(sequence) for sequence in range(children + 1)])}


STEP, TABLES = ("press", "Step"), ("toggle", "Block tables")
CASES = [
    Case("a fork", [TABLES, ("move", "Moment", 2)], lambda: family(written=0), "Child 2 gets .* no token is copied"),
    Case(
        "as it opens, at the first write",
        [TABLES],
        lambda: family(written=1),
        "Child 1 writes token 7. Block 1 had 3 users, so it was copied to block 2 first",
    ),
    Case("the next one", [TABLES, STEP], lambda: family(written=2), "2 users, so it was copied to block 3 first"),
    Case(
        "at its end",
        [TO_LESSON],
        family,
        "writes token 7 into block 1, which is its own. .* without sharing it would be 6",
    ),
    Case("before a fork", [TO_LESSON, ("press", "Reset")], lambda: family(children=0, written=0), "takes 2 blocks"),
    Case("full blocks", [TABLES, ("move", "Tokens in the prompt", 8)], lambda: family(prompt=8), "nothing is copied"),
    Case(
        "small blocks", [TABLES, ("move", "Block size", 2), ("move", "Children", 3)], lambda: family(size=2, children=3)
    ),
    Case(
        "without children", [TABLES, ("move", "Children", 0)], lambda: family(children=0), "^The parent writes token 7"
    ),
]
