"""What is done to the figure of exercise 24, and what must come out."""

import pytest
import torch
from figure_case import TO_LESSON, Case
from truths import load

exercise = load("24")


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


STEP, TABLES = ("press", "Step"), {"Block tables": True}
CASES = [
    Case([TABLES, {"Moment": 2}], lambda: family(written=0), "Child 2 gets .* no token is copied"),
    Case(
        [TABLES],
        lambda: family(written=1),
        "Child 1 writes token 7. Block 1 had 3 users, so it was copied to block 2 first",
    ),
    Case([TABLES, STEP], lambda: family(written=2), "2 users, so it was copied to block 3 first"),
    Case([TO_LESSON], family, "writes token 7 into block 1, which is its own. .* without sharing it would be 6"),
    Case([TO_LESSON, ("press", "Reset")], lambda: family(children=0, written=0), "takes 2 blocks"),
    Case([TABLES, {"Tokens in the prompt": 8}], lambda: family(prompt=8), "nothing is copied"),
    Case([TABLES, {"Children": 0}], lambda: family(children=0), "^The parent writes token 7"),
]
