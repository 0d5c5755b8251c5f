"""Hidden checks: fresh inputs against plain rules in float64, and what must hold for any input."""

import torch

from grader.authors import (
    Mismatch,
    expect,
    expect_shape,
    keeps_device,
    keeps_dtype,
    keeps_inputs,
    same_gradients,
    task,
)

# (B, T_q, T_k, I, c): each number is above and below the others somewhere
INDEXERS = ((2, 3, 5, 4, 2), (3, 4, 2, 1, 6), (1, 1, 7, 3, 3), (2, 6, 1, 2, 5), (1, 4, 4, 4, 4), (1, 1, 1, 1, 1))
TABLES = ((2, 7, 3), (3, 5, 1), (1, 9, 5), (1, 40, 12), (2, 2, 2), (1, 1, 1))  # (B, T, k)
FEW = ((2, 6, 6, 3), (1, 4, 4, 9), (2, 3, 8, 5), (3, 1, 1, 4), (1, 1, 5, 2), (2, 12, 12, 12))  # (B, T_q, T_k, k)
LATER = ((2, 3, 8, 2, 5), (1, 1, 6, 3, 5), (2, 4, 12, 3, 4), (3, 2, 30, 9, 20))  # (B, T_q, T_k, k, first_query)
LATER_FEW = ((1, 3, 6, 5, 2), (2, 2, 9, 7, 1), (1, 2, 4, 8, 2))
# (B, H, T_q, T_k, h, d_v, k)
ATTENTIONS = (
    (2, 3, 4, 6, 5, 2, 3),
    (1, 2, 5, 3, 2, 4, 1),
    (3, 1, 2, 7, 4, 3, 7),
    (1, 4, 3, 3, 6, 6, 2),
    (1, 1, 1, 1, 1, 1, 1),
)
# (B, H, T, h, d_v, I, c, k, block_size)
INDEXED = (
    (2, 3, 7, 4, 3, 2, 3, 2, 3), (1, 2, 12, 2, 5, 3, 2, 4, 1), (2, 1, 9, 5, 2, 1, 4, 3, 9),
    (1, 2, 10, 3, 3, 2, 2, 1, 64), (1, 1, 1, 2, 2, 1, 1, 1, 2), (2, 2, 40, 4, 2, 2, 3, 6, 16),
)  # fmt: skip
TOKENS, SIZE, CHOSEN, ALLOWED = 8_192, 32, 16, 128  # MiB; a table of TOKENS × TOKENS float32 takes 256
INDEXED_TOKENS, INDEXED_CHOSEN, INDEXED_ALLOWED = 4_096, 64, 160  # all queries at once take 330
LOOKED_AT = (0, 1, 62, 63, 64, 1_000, 2_047, 4_095)  # queries whose result is compared
READ = ("fresh_sparse_attention", "missing_keys")
PARTS = ("fresh_index_scores", "fresh_top_keys", "few_keys", "equal_scores", "later_queries", *READ)
ALL = {
    "index_scores": "fresh_index_scores",
    "top_keys": ("fresh_top_keys", "few_keys"),
    "sparse_attention": "fresh_sparse_attention",
    "indexed_attention": "fresh_indexed_attention",
    "coverage": "fresh_coverage",
}


def scores_of(queries, keys, head_weights) -> torch.Tensor:
    """The truth: one small head after the other, in float64."""
    queries, keys, head_weights = queries.double(), keys.double(), head_weights.double()
    total = torch.zeros(*queries.shape[:2], keys.shape[1], dtype=torch.float64)
    for head in range(queries.shape[2]):
        total = total + head_weights[:, :, head, None] * (queries[:, :, head] @ keys.mT).clamp(min=0)
    return total


def selected(scores: torch.Tensor, k: int, first_query: int = 0) -> torch.Tensor:
    """The truth: Python sorts, and its sort leaves equals as they were."""
    table = []
    for rows in scores.tolist():
        table.append([])
        for place, row in enumerate(rows, first_query):
            best = sorted(range(place + 1), key=lambda key, row=row: -row[key])[:k]
            table[-1].append(best + [-1] * (k - len(best)))
    return torch.tensor(table, dtype=torch.int64).reshape(*scores.shape[:2], k)


def different(rng, *shape: int) -> torch.Tensor:
    """Scores (…, T_k), no two of a row nearer to each other than 0.25."""
    return torch.argsort(rng.rand(*shape), dim=-1).float() / 4 - shape[-1] / 8


def is_selected(indices: torch.Tensor, T_k: int) -> torch.Tensor:
    """True where a row of `indices` (B, T_q, k) names the key: (B, 1, T_q, T_k)."""
    return (indices[..., None] == torch.arange(T_k)).any(dim=2)[:, None]


def attention(queries, keys, values, indices) -> torch.Tensor:
    """The truth in float64: a table of all scores, of which those that are not selected have no power."""
    queries, keys, values = queries.double(), keys.double(), values.double()
    scores = queries @ keys.mT / queries.shape[-1] ** 0.5
    seen = is_selected(indices, keys.shape[2])
    most = scores.masked_fill(~seen, -torch.inf).amax(dim=-1, keepdim=True).detach()
    powers = torch.exp((scores - most.clamp(min=-1e30)).masked_fill(~seen, -torch.inf))
    total = powers.sum(dim=-1, keepdim=True)
    return powers / torch.where(total == 0, 1.0, total) @ values


def three(rng, B: int, H: int, T_q: int, T_k: int, h: int, d_v: int) -> list[torch.Tensor]:
    """Queries, keys and values whose scores differ clearly."""
    return [2 * rng.randn(B, H, T_q, h), rng.randn(B, H, T_k, h), rng.randn(B, H, T_k, d_v)]


def drawn(rng, B: int, T_q: int, T_k: int, k: int, missing: float = 0.0) -> torch.Tensor:
    """Indices (B, T_q, k) in any order, each position at most once in a row; a share of them −1."""
    indices = torch.argsort(rng.rand(B, T_q, T_k), dim=-1)[..., :k]
    return indices.masked_fill(rng.rand(*indices.shape) < missing, -1)


def indexer(rng, B: int, T: int, small_heads: int, c: int) -> list[torch.Tensor]:
    """An indexer's queries, keys and weights: whole numbers, so that scores are exact and many of them equal."""
    sizes = (B, T, small_heads, c), (B, T, c), (B, T, small_heads)
    return [rng.integers(-2, 3, *size).float() for size in sizes]


def chosen_attention(queries, keys, values, index_queries, index_keys, head_weights, k, block_size=256):
    """The truth of indexed attention, all queries at once."""
    T = queries.shape[2]
    indices = selected(scores_of(index_queries, index_keys, head_weights), min(k, T))
    return attention(queries, keys, values, indices)


def same_read_gradients(mine, theirs, *args) -> None:
    """The gradients of queries, keys and values are correct; those of the selection belong to another check."""
    got, expected = mine.gradients(*args), theirs.gradients(*args)
    for place, name in enumerate(("queries", "keys", "values")):
        expect(got[f"argument {place}"], expected[f"argument {place}"], f"the gradient of {name}", tolerance=1e-4)


def weights_of(rng, *shape: int) -> torch.Tensor:
    return torch.softmax(2 * rng.randn(*shape), dim=-1)


def covered(weights, indices) -> torch.Tensor:
    return (weights.double() * is_selected(indices, weights.shape[-1])).sum(dim=-1)


# Task 1


@task(1)
def test_fresh_index_scores(learner, rng):
    """index_scores is right on new inputs of other sizes, with weights above and below 0."""
    for B, T_q, T_k, small_heads, c in INDEXERS:
        inputs = [rng.randn(B, T_q, small_heads, c), rng.randn(B, T_k, c), rng.randn(B, T_q, small_heads)]
        expect(learner.index_scores(*inputs), scores_of(*inputs).float())
    inputs = [rng.strided(2, 4, 3, 5), rng.strided(2, 6, 5), rng.strided(2, 4, 3)]
    inputs[0][0, 1], inputs[1][1, 2], inputs[2][1, 3] = 0.0, 0.0, 0.0  # tokens like others
    expect(learner.index_scores(*inputs), scores_of(*inputs).float())


# Task 2


def selects(learner, rows: slice, scores: torch.Tensor, k: int, *first_query: int) -> None:
    """These rows of the table are right; the others belong to another check."""
    got, expected = learner.top_keys(scores, k, *first_query), selected(scores, k, *first_query)
    expect_shape(got, tuple(expected.shape))
    expect(got[:, rows], expected[:, rows], "the selected keys")


@task(2)
def test_fresh_top_keys(learner, rng):
    """top_keys selects the best of the keys that a query may see, the largest first, where it may see k or more."""
    for B, T, k in TABLES:
        selects(learner, slice(k - 1, None), different(rng, B, T, T), k)
    scores = different(rng, 2, 6, 5).mT  # does not lie row by row, and has a key more than queries
    selects(learner, slice(1, None), scores, 2)
    close = 100 + torch.argsort(rng.rand(1, 64, 64), dim=-1) / 1000  # no two are far apart
    selects(learner, slice(2, None), close, 3)


@task(2)
def test_equal_scores(learner, rng):
    """Of keys that score the same, the one at the lower position comes first; −0.0 is 0.0."""
    low, high = (rng.integers(0, 3, 2, 70, 70).float() + more for more in (0, 2_000))
    zeros = torch.zeros(1, 70, 70)
    zeros[..., 1::2] = -0.0
    for scores, k in ((low, 20), (high, 9), (zeros, 30), (zeros, 1), (-torch.relu(different(rng, 1, 40, 40)), 24)):
        selects(learner, slice(k - 1, None), scores, k)


@task(2)
def test_few_keys(learner, rng):
    """A query that sees fewer than k keys gets all of them, then −1; there are always k columns."""
    for B, T_q, T_k, k in FEW:
        selects(learner, slice(None), different(rng, B, T_q, T_k), k)


@task(2)
def test_low_scores(learner):
    """Scores may be low, down to −1e30: a visible key is better than one that is still to come."""
    row = torch.tensor([-0.25, -30.0, -200.0, -3e4, -8e6, -3e9, -2e15, -1e30])
    for scores in (row, row.flip(0)):
        selects(learner, slice(1, None), scores.repeat(1, 8, 1), 2)
        selects(learner, slice(None), scores.repeat(1, 8, 1), 8)


@task(2)
def test_later_queries(learner, rng):
    """Row r is the query at position first_query + r, and sees the keys up to there."""
    for B, T_q, T_k, k, first_query in LATER:
        selects(learner, slice(None), different(rng, B, T_q, T_k), k, first_query)
    for B, T_q, T_k, k, first_query in LATER_FEW:
        selects(learner, slice(None), different(rng, B, T_q, T_k), k, first_query)


# Task 3


@task(3)
def test_fresh_sparse_attention(learner, rng):
    """sparse_attention is right on new inputs of other sizes, for selected keys in any order."""
    for *sizes, k in ATTENTIONS:
        inputs, (B, _, T_q, T_k, *_) = three(rng, *sizes), sizes
        indices = drawn(rng, B, T_q, T_k, k)
        expect(learner.sparse_attention(*inputs, indices), attention(*inputs, indices).float())
    inputs = [rng.strided(2, 3, 4, 5), rng.strided(2, 3, 6, 5), rng.strided(2, 3, 6, 2)]
    inputs[0][:, :, 1], inputs[1][0, :, 2], inputs[2][1, :, 3] = 0.0, 0.0, 0.0  # tokens like others
    indices = drawn(rng, 2, 3, 6, 4).mT  # (2, 4, 3), does not lie row by row
    indices[:] = drawn(rng, 2, 4, 6, 3)
    expect(learner.sparse_attention(*inputs, indices), attention(*inputs, indices).float())


@task(3)
def test_missing_keys(learner, rng):
    """−1 is no key, wherever it is in a row: neither the first key, nor the last, nor a share for nobody."""
    for *sizes, k in ((2, 3, 6, 5, 4, 2, 3), (1, 2, 9, 4, 3, 5, 4), (3, 1, 4, 8, 2, 3, 6)):
        inputs, (B, _, T_q, T_k, *_) = three(rng, *sizes), sizes
        indices = drawn(rng, B, T_q, T_k, k, missing=0.4)
        indices[..., 0] = torch.where((indices == -1).all(dim=-1), T_k - 2, indices[..., 0])
        expect(learner.sparse_attention(*inputs, indices), attention(*inputs, indices).float())
    inputs = three(rng, 1, 2, 6, 4, 3, 2)
    indices = torch.tensor([[0, -1, 2], [-1, 0, -1], [-1, -1, 3], [1, -1, -1], [-1, 2, 0], [3, 1, -1]])[None]
    expect(learner.sparse_attention(*inputs, indices), attention(*inputs, indices).float())


@task(3)
def test_no_keys(learner, reference, rng):
    """A query without any key gets 0, and sends no gradient and no NaN to anything."""
    inputs = three(rng, 2, 2, 4, 5, 3, 2)
    indices = drawn(rng, 2, 4, 5, 3)
    indices[0, 1], indices[1, 0], indices[1, 3] = -1, -1, -1
    got = learner.sparse_attention(*inputs, indices)
    expect_shape(got, (2, 2, 4, 2))
    expect(got[1, :, 0], torch.zeros(2, 2), "the result of a query without keys")
    expect(got, attention(*inputs, indices).float())
    same_gradients(learner.sparse_attention, reference.sparse_attention, *inputs, indices)
    expect(learner.sparse_attention(*inputs, torch.full((2, 4, 3), -1)), torch.zeros(2, 2, 4, 2), "without any key")


@task(3)
def test_large_scores(learner):
    """Scores of ±10,000 are right beside −1: no NaN, and nothing that was not selected."""
    queries = torch.tensor([[1.0, 0, 0, 0], [-1.0, 0, 0, 0], [1.0, 0, 0, 0], [1.0, 0, 0, 0], [0.0, 1, 0, 0]]) * 200
    keys = torch.zeros(1, 2, 4, 4)
    keys[0, :, :, 0] = torch.tensor([1.0, -1.0, 1.0, -0.5]) * 100  # scores of 10,000, −10,000, 10,000 and −5,000
    keys[0, :, :, 1] = -2.0  # scores of −200, all the same
    values = torch.tensor([8.0, 4.0, 16.0, 2.0]).reshape(1, 1, 4, 1).repeat(1, 2, 1, 1)
    indices = torch.tensor([[0, 3, -1], [-1, 2, -1], [1, -1, -1], [3, 1, -1], [3, -1, 1]])[None]
    expected = torch.tensor([8.0, 16.0, 4.0, 2.0, 3.0]).reshape(1, 1, 5, 1).repeat(1, 2, 1, 1)
    inputs = queries.repeat(1, 2, 1, 1), keys, values
    expect(learner.sparse_attention(*inputs, indices), expected)
    for name, gradient in learner.sparse_attention.gradients(*inputs, indices).items():
        if not bool(torch.isfinite(gradient).all()):
            raise Mismatch(f"the gradient of {name} is not finite for scores of ±10,000")


# Task 4


@task(4, after=PARTS)
def test_fresh_indexed_attention(learner, rng):
    """indexed_attention is the three together, for any k and any block_size; equal scores are frequent."""
    for B, H, T, h, d_v, small_heads, c, k, block_size in INDEXED:
        inputs = [*three(rng, B, H, T, T, h, d_v), *indexer(rng, B, T, small_heads, c)]
        expected = chosen_attention(*inputs, k).float()
        expect(learner.indexed_attention(*inputs, k, block_size), expected, f"the result for block_size={block_size}")
    expect(learner.indexed_attention(*inputs, k), expected, "the result for the usual block_size")
    inputs = [*three(rng, 1, 1, 270, 270, 2, 2), *indexer(rng, 1, 270, 2, 3)]
    expect(learner.indexed_attention(*inputs, 5), chosen_attention(*inputs, 5).float(), "the result for 270 tokens")


@task(4, after="fresh_indexed_attention")
def test_all_keys(learner, rng):
    """With k of the number of tokens or more it is full causal attention."""
    for T, k, block_size in ((6, 6, 4), (5, 9, 2), (7, 30, 256)):
        inputs = [*three(rng, 2, 2, T, T, 3, 2), *indexer(rng, 2, T, 2, 3)]
        queries, keys, values = (tensor.double() for tensor in inputs[:3])
        full = torch.nn.functional.scaled_dot_product_attention(queries, keys, values, is_causal=True)
        expect(learner.indexed_attention(*inputs, k, block_size), full.float())


@task(4, after="fresh_indexed_attention")
def test_selection_gradients(learner, rng):
    """No gradient goes through a selection: the indexer's queries, keys and weights get none."""
    inputs = [*three(rng, 1, 2, 6, 6, 3, 2), *indexer(rng, 1, 6, 2, 3)]
    got = learner.indexed_attention.gradients(*inputs, 2, 4)
    for place, name in ((3, "index_queries"), (4, "index_keys"), (5, "head_weights")):
        expect(got[f"argument {place}"], torch.zeros_like(inputs[place]), f"the gradient of {name}")


# Task 5


@task(5)
def test_fresh_coverage(learner, rng):
    """coverage is right on new weights of other sizes, with −1 anywhere, and 0 where no key is selected."""
    for B, H, T_q, T_k, k in ((2, 3, 4, 6, 3), (1, 2, 5, 3, 3), (3, 1, 2, 7, 5), (1, 4, 6, 2, 1), (1, 1, 1, 1, 1)):
        weights, indices = weights_of(rng, B, H, T_q, T_k), drawn(rng, B, T_q, T_k, k, missing=0.3)
        expect(learner.coverage(weights, indices), covered(weights, indices).float())
    weights, indices = weights_of(rng, 1, 2, 5, 4), torch.tensor([[0, -1], [-1, 0], [-1, -1], [3, -1], [2, 1]])[None]
    expect(learner.coverage(weights, indices), covered(weights, indices).float())


# All tasks


@task(5, each={name: checks for name, checks in ALL.items() if name != "top_keys"})
def test_gradients(learner, reference, rng):
    """Gradients flow back to all that is not a selection, and are correct."""
    same_gradients(learner.index_scores, scores_of, rng.randn(2, 3, 2, 4), rng.randn(2, 5, 4), rng.randn(2, 3, 2))
    inputs = three(rng, 2, 2, 4, 5, 3, 2)
    same_gradients(learner.sparse_attention, reference.sparse_attention, *inputs, drawn(rng, 2, 4, 5, 3))
    inputs = [*three(rng, 1, 2, 7, 7, 3, 2), *indexer(rng, 1, 7, 2, 3)]
    same_read_gradients(learner.indexed_attention, reference.indexed_attention, *inputs, 3, 4)
    weights, indices = weights_of(rng, 2, 2, 4, 5), drawn(rng, 2, 4, 5, 3, missing=0.3)
    same_gradients(learner.coverage, reference.coverage, weights, indices)


@task(5, each=ALL)
def test_dtype_and_device(learner, reference, rng):
    """float64 is computed in float64; index_scores and top_keys work on other devices, too."""
    double = {"dtypes": (torch.float64,)}
    scored = [1e3 + rng.randn(2, 3, 2, 4), 1e3 + rng.randn(2, 5, 4), torch.tensor([1.0, -1.0]).repeat(2, 3, 1)]
    keeps_dtype(learner.index_scores, reference.index_scores, *scored, **double)
    near = 1e6 + torch.arange(9.0, dtype=torch.float64).repeat(1, 9, 1) / 1000  # one and the same in float32
    expect(learner.top_keys(near, 2)[:, 1:], selected(near, 2)[:, 1:], "the selected keys in float64")
    large = [30 * rng.randn(2, 2, 5, 3), 1e2 + rng.randn(2, 2, 5, 3), rng.randn(2, 2, 5, 2)]
    keeps_dtype(learner.sparse_attention, reference.sparse_attention, *large, drawn(rng, 2, 5, 5, 3), **double)
    inputs = [*large, *indexer(rng, 2, 5, 2, 3)]
    keeps_dtype(learner.indexed_attention, reference.indexed_attention, *inputs, 3, 2, **double)
    weights, indices = weights_of(rng, 2, 2, 4, 5), drawn(rng, 2, 4, 5, 3)
    keeps_dtype(learner.coverage, reference.coverage, weights, indices, **double)
    keeps_device(learner.index_scores, *scored)
    keeps_device(learner.top_keys, different(rng, 2, 4, 4), 3)


@task(5, each=ALL)
def test_inputs_unchanged(learner, rng):
    """Your functions don't change what they are given, and calling them twice gives the same result."""
    keeps_inputs(learner.index_scores, rng.randn(2, 3, 2, 4), rng.randn(2, 5, 4), rng.randn(2, 3, 2))
    keeps_inputs(learner.top_keys, different(rng, 2, 6, 6), 3)
    indices = drawn(rng, 2, 4, 5, 3, missing=0.3)
    keeps_inputs(learner.sparse_attention, *three(rng, 2, 2, 4, 5, 3, 2), indices)
    keeps_inputs(learner.indexed_attention, *three(rng, 1, 2, 7, 7, 3, 2), *indexer(rng, 1, 7, 2, 3), 3, 4)
    keeps_inputs(learner.coverage, weights_of(rng, 2, 2, 4, 5), indices)


@task(5, each=ALL)
def test_argument_names(learner, rng):
    """Arguments have the names used in the lesson."""
    index_queries, index_keys, head_weights = indexer(rng, 1, 4, 2, 3)
    learner.index_scores(queries=index_queries, keys=index_keys, head_weights=head_weights)
    learner.top_keys(scores=different(rng, 1, 2, 4), k=2, first_query=1)
    queries, keys, values = three(rng, 1, 2, 4, 4, 3, 2)
    indices = drawn(rng, 1, 4, 4, 2)
    learner.sparse_attention(queries=queries, keys=keys, values=values, indices=indices)
    learner.indexed_attention(
        queries=queries,
        keys=keys,
        values=values,
        index_queries=index_queries,
        index_keys=index_keys,
        head_weights=head_weights,
        k=2,
        block_size=3,
    )
    learner.coverage(weights=weights_of(rng, 1, 2, 4, 4), indices=indices)


# What is measured


@task(3, after=(*READ, "gradients"))
def test_attention_memory(learner, rng, within_memory):
    """Beside its inputs, sparse_attention takes less than 128 MiB for 8,192 tokens, forward and backward."""
    inputs = three(rng, 1, 1, TOKENS, TOKENS, SIZE, SIZE)
    indices = rng.integers(0, TOKENS // CHOSEN, 1, TOKENS, CHOSEN) + TOKENS // CHOSEN * torch.arange(CHOSEN)
    got = within_memory(learner.sparse_attention, *inputs, indices, mebibytes=ALLOWED, gradients=True)
    expect_shape(got["argument 2"], (1, 1, TOKENS, SIZE), "the gradient of values")


@task(4, after="fresh_indexed_attention")
def test_indexed_memory(learner, rng, within_memory):
    """Beside its inputs, indexed_attention takes less than 160 MiB for 4,096 tokens, and the result is right."""
    inputs = [*three(rng, 1, 1, *[INDEXED_TOKENS] * 2, SIZE, SIZE), *indexer(rng, 1, INDEXED_TOKENS, 2, 16)]
    got = within_memory(learner.indexed_attention, *inputs, INDEXED_CHOSEN, mebibytes=INDEXED_ALLOWED)
    expect_shape(got, (1, 1, INDEXED_TOKENS, SIZE))
    for place in LOOKED_AT:
        queries, keys, values, index_queries, index_keys, head_weights = inputs
        row, seen = slice(place, place + 1), slice(place + 1)
        scores = scores_of(index_queries[:, row], index_keys[:, seen], head_weights[:, row])
        indices = selected(scores, INDEXED_CHOSEN, place)
        expected = attention(queries[:, :, row], keys[:, :, seen], values[:, :, seen], indices)
        expect(got[:, :, row], expected.float(), "the result for one token")
