"""Hidden checks: the lives of caches against books kept in plain Python, and attention token by token in float64."""

import torch

from grader.authors import (
    LARGE_TOLERANCE,
    Mismatch,
    expect,
    expect_shape,
    keeps_dtype,
    keeps_inputs,
    refuses,
    same_gradients,
    task,
)

ATTENTION = ("fresh_attention", "grouped_heads")
# (num_blocks, block_size, num_kv_heads, head_dim, [(sequence, tokens), …])
LIVES = (
    (12, 4, 3, 2, ((5, 6), (-1, 3), (5, 2), (10**6, 1), (-1, 6), (5, 9))),
    (7, 1, 2, 3, ((0, 2), (3, 1), (0, 1), (3, 2))),
    (8, 5, 1, 4, ((2, 5), (1, 1), (2, 1), (1, 9), (2, 4))),
)
# (S, H, num_kv_heads, h, block_size, lengths)
BATCHES = (
    (3, 2, 2, 5, 4, (6, 4, 9)),
    (1, 1, 1, 3, 2, (1,)),
    (4, 3, 3, 2, 1, (3, 1, 7, 2)),
    (2, 4, 4, 7, 16, (16, 5)),
)
GROUPED = ((3, 6, 2, 4, 3, (7, 3, 4)), (2, 4, 1, 3, 2, (5, 2)))
LONG, SHORT, SEQUENCES, SIZE, BLOCK = 32_768, 16, 64, 32, 16
ALLOWED = 64  # MiB; padded to the longest, keys and values take 256 each


class Books:
    """What a right cache says, kept in plain Python: the users of each block, tables, and which tokens there are."""

    def __init__(self, num_blocks: int, block_size: int):
        self.size, self.users = block_size, [0] * num_blocks
        self.tables: dict[int, list[int]] = {}
        self.tokens: dict[int, list[torch.Tensor]] = {}  # of each sequence its chunks

    @property
    def num_free(self) -> int:
        return self.users.count(0)

    def length(self, sequence: int) -> int:
        return sum(chunk.shape[1] for chunk in self.tokens[sequence])

    def take(self) -> int:
        block = self.users.index(0)
        self.users[block] = 1
        return block

    def append(self, sequence: int, chunk: torch.Tensor) -> None:
        table, chunks = self.tables.setdefault(sequence, []), self.tokens.setdefault(sequence, [])
        end = self.length(sequence) + chunk.shape[1]
        if self.length(sequence) % self.size and self.users[table[-1]] > 1:
            self.users[table[-1]] -= 1
            table[-1] = self.take()
        while len(table) * self.size < end:
            table.append(self.take())
        chunks.append(chunk)

    def fork(self, parent: int, child: int) -> None:
        self.tables[child], self.tokens[child] = list(self.tables[parent]), list(self.tokens[parent])
        for block in self.tables[child]:
            self.users[block] += 1

    def release(self, sequence: int) -> None:
        for block in self.tables.pop(sequence):
            self.users[block] -= 1
        del self.tokens[sequence]


class Life:
    """A cache of the learner's and its books: what is done is done to both, and compared."""

    def __init__(self, learner, rng, *sizes: int, dtype: torch.dtype | None = None):
        own = () if dtype is None else (dtype,)
        self.cache, self.rng, self.sizes = learner.PagedCache(*sizes, *own), rng, sizes
        self.books, self.dtype = Books(*sizes[:2]), dtype or torch.float32
        for name in ("keys", "values"):  # what is in slots that nobody uses is free, and would hide what is alike
            zeros = getattr(self.cache, name).read(kept=True).zero_()
            expect_shape(zeros, sizes, f"the pool of {name}")

    def chunk(self, tokens: int) -> torch.Tensor:
        """Random keys of new tokens, which lie token by token in memory, as a split into heads leaves them."""
        return self.rng.randn(tokens, self.sizes[2], self.sizes[3]).to(self.dtype).transpose(0, 1)

    def append(self, sequence: int, tokens: int) -> None:
        keys = self.chunk(tokens)
        self.cache.append(sequence, keys, -2 * keys)
        self.books.append(sequence, keys)

    def fork(self, parent: int, child: int) -> None:
        self.cache.fork(parent, child)
        self.books.fork(parent, child)

    def release(self, sequence: int) -> None:
        self.cache.release(sequence)
        self.books.release(sequence)

    def has_tables(self, *sequences: int, after: str) -> None:
        """The block tables of these sequences, and num_free, are those of the books."""
        num_free = self.cache.num_free.read()  # first: it tells a copy that nobody uses from none
        for sequence in sequences:
            table = self.cache.block_table(sequence)
            if type(table) is not list or not all(type(block) is int for block in table):
                raise Mismatch("block_table does not give a list of ints", "", table)
            expect(torch.tensor(table), torch.tensor(self.books.tables[sequence]), f"the block table after {after}")
        expect(num_free, self.books.num_free, f"num_free after {after}")

    def has_tokens(self, *sequences: int, after: str) -> None:
        """The blocks of these sequences hold their keys and values, and their lengths are right."""
        pools = self.cache.keys.read(), self.cache.values.read()
        for pool, name in zip(pools, ("keys", "values"), strict=True):
            expect_shape(pool, self.sizes, f"the pool of {name}")
        for sequence in sequences:
            keys, table = torch.cat(self.books.tokens[sequence], dim=1), self.books.tables[sequence]
            expect(self.cache.length(sequence), keys.shape[1], f"the length after {after}")
            for pool, expected, name in zip(pools, (keys, -2 * keys), ("keys", "values"), strict=True):
                got = pool[table].flatten(0, 1)[: keys.shape[1]].transpose(0, 1)
                expect(got, expected, f"what the pool of {name} holds for a sequence after {after}")

    def refuses_to_grow(self, sequence: int, tokens: int) -> None:
        """An append that finds too few blocks raises RuntimeError, and no number in the pools has changed."""
        before = self.cache.keys.read(), self.cache.values.read()
        keys = self.chunk(tokens)
        refuses(RuntimeError, self.cache.append, sequence, keys, -2 * keys)
        after = self.cache.keys.read(), self.cache.values.read()
        for one, other, name in zip(before, after, ("keys", "values"), strict=True):
            if one.shape != other.shape or not torch.equal(one.view(torch.int32), other.view(torch.int32)):
                raise Mismatch(f"an append that fails has written into the pool of {name}", "", other)


def attention(queries, key_pool, value_pool, block_tables, lengths) -> torch.Tensor:
    """The truth: each sequence is gathered token by token and attended to in float64."""
    size, outputs = key_pool.shape[1], []
    for query, table, length in zip(queries.double(), block_tables.tolist(), lengths.tolist(), strict=True):
        slots = [(table[place // size], place % size) for place in range(length)]
        heads = []
        for head, one in enumerate(query):
            group = head // (queries.shape[1] // key_pool.shape[2])
            keys, values = (
                torch.stack([pool[block, slot, group] for block, slot in slots]).double()
                for pool in (key_pool, value_pool)
            )
            heads.append(torch.softmax(keys @ one / queries.shape[-1] ** 0.5, dim=0) @ values)
        outputs.append(torch.stack(heads))
    return torch.stack(outputs).to(queries.dtype)


def batch(rng, S: int, H: int, num_kv_heads: int, h: int, block_size: int, lengths: tuple[int, ...]):
    """Queries, two pools of which every slot holds a number, block tables in random order, and lengths."""
    counts = [-(-length // block_size) for length in lengths]
    blocks = rng.permutation(sum(counts) + 2).tolist()
    tables = torch.full((S, max(counts)), -1)
    for row, count in enumerate(counts):
        tables[row, :count] = torch.tensor([blocks.pop() for _ in range(count)])
    queries, *pools = 2 * rng.randn(S, H, h), *(rng.randn(sum(counts) + 2, block_size, num_kv_heads, h) for _ in "kv")
    return queries, *pools, tables, torch.tensor(lengths)


def with_nan(key_pool, value_pool, tables, lengths):
    """The pools with NaN in every slot that no sequence uses, and in every block."""
    used = torch.zeros(key_pool.shape[:2], dtype=torch.bool)
    for table, length in zip(tables.tolist(), lengths.tolist(), strict=True):
        for place in range(length):
            used[table[place // key_pool.shape[1]], place % key_pool.shape[1]] = True
    return [pool.masked_fill(~used[..., None, None], torch.nan) for pool in (key_pool, value_pool)]


# Task 1


@task(1)
def test_fresh_allocator(learner, rng):
    """allocate always gives the free block with the lowest number, in whatever order blocks were freed."""
    count = rng.integer(6, 9)
    allocator, other = learner.BlockAllocator(count), learner.BlockAllocator(3)
    expect([allocator.allocate() for _ in range(count)], list(range(count)), "the blocks in the order of allocate")
    expect(allocator.num_free.read(), 0, "num_free with no block left")
    for block in (3, 0, 4, 1):
        allocator.free(block)
    expect(allocator.num_free.read(), 4, "num_free after four blocks were freed")
    expect([allocator.allocate() for _ in range(3)], [0, 1, 3], "the blocks after 3, 0, 4 and 1 were freed")
    expect((other.num_free.read(), other.allocate()), (3, 0), "num_free and the first block of another allocator")


@task(1)
def test_shared_blocks(learner):
    """A block with several users is free when the last one has freed it, and then begins with one user again."""
    allocator = learner.BlockAllocator(3)
    allocator.allocate()
    expect(allocator.allocate(), 1, "the second block")
    allocator.share(1)
    allocator.share(1)
    expect(allocator.num_free.read(), 1, "num_free after a block was shared twice")
    for left in (2, 1):
        allocator.free(1)
        expect(allocator.num_free.read(), 1, f"num_free while the block has {left} of its 3 users")
    expect(allocator.allocate(), 2, "the block that allocate gives while block 1 has a user")
    allocator.free(1)
    expect(allocator.num_free.read(), 1, "num_free after the last of 3 users has freed the block")
    expect(allocator.allocate(), 1, "the block that allocate gives then")
    allocator.free(1)
    expect(allocator.num_free.read(), 1, "num_free after its one new user has freed it")


@task(1)
def test_allocator_errors(learner):
    """Raises RuntimeError when no block is free, ValueError for a block that nobody uses, and changes nothing then."""
    allocator = learner.BlockAllocator(3)
    for _ in range(3):
        allocator.allocate()
    refuses(RuntimeError, allocator.allocate)
    allocator.free(1)
    for block in (1, -1, 3):
        refuses(ValueError, allocator.free, block)
        refuses(ValueError, allocator.share, block)
    expect(allocator.num_free.read(), 1, "num_free after calls that were refused")
    expect(allocator.allocate(), 1, "the block that allocate gives after them")
    refuses(RuntimeError, allocator.allocate)


# Task 2


@task(2)
def test_fresh_append(learner, rng):
    """Chunks of any length, of sequences with any numbers, get the right blocks, and keys and values are in them."""
    for *sizes, steps in LIVES:
        life = Life(learner, rng, *sizes)
        for sequence, tokens in steps:
            life.append(sequence, tokens)
            if (sequence, tokens) == steps[2]:
                life.has_tables(*life.books.tables, after="three appends")
        life.has_tables(*life.books.tables, after="several appends")
        life.has_tokens(*life.books.tables, after="several appends")


@task(2, after="fresh_append")
def test_written_in_place(learner, rng):
    """The pools are written in place: `cache.keys` and `cache.values` stay the same tensors all the time."""
    life = Life(learner, rng, 5, 3, 2, 2)
    names = ("keys", "values")
    pools, again = ([getattr(life.cache, name).read(kept=True) for name in names] for _ in range(2))
    for pool, same, name in zip(pools, again, names, strict=True):
        filled = pool.fill_(7.0)
        expect_shape(filled, life.sizes, f"the pool of {name}")
        expect(same.read(), filled, f"cache.{name}, read once more, after a number was written into it")
    for sequence, tokens in ((0, 4), (1, 2), (0, 3)):
        life.append(sequence, tokens)
    for pool, name in zip(pools, names, strict=True):
        now, table = getattr(life.cache, name).read(), life.books.tables[0]
        expect_shape(now, life.sizes, f"the pool of {name}")
        got, expected = (one[table].flatten(0, 1)[:7] for one in (pool.read(), now))
        expect(got, expected, f"cache.{name} as read before the appends")


@task(2, after="fresh_append")
def test_release(learner, rng):
    """A released sequence gives its blocks back, the lowest is used first, and its number begins empty again."""
    life = Life(learner, rng, 6, 2, 1, 3)
    for sequence, tokens in ((0, 3), (1, 2), (2, 5)):
        life.append(sequence, tokens)
    life.release(0)
    life.has_tables(1, 2, after="a release")
    life.append(3, 1)
    life.release(1)
    life.append(0, 4)
    life.has_tables(0, 2, 3, after="a sequence was released and began again")
    life.has_tokens(0, 2, 3, after="a sequence was released and began again")
    for sequence in (0, 2, 3):
        life.release(sequence)
    life.has_tables(after="every sequence was released")


@task(2, after="fresh_append")
def test_own_numbers(learner, rng):
    """The cache keeps numbers without a graph, changes no argument, and each block table is a new list."""
    life = Life(learner, rng, 4, 2, 2, 3)
    life.append(0, 3)
    keys = life.chunk(2)
    _, (arguments, _) = life.cache.append.with_inputs(0, keys.requires_grad_(), -2 * keys)
    keys = keys.detach()
    life.books.append(0, keys)
    expect(arguments[1:], [keys, -2 * keys], "the keys and values that were passed in")
    for pool, name in ((life.cache.keys.read(), "keys"), (life.cache.values.read(), "values")):
        expect_shape(pool, life.sizes, f"the pool of {name}")
        if pool.facts["requires_grad"]:
            raise Mismatch(f"the pool of {name} has a graph for gradients: it keeps only numbers")
    life.has_tokens(0, after="two appends")
    table = life.cache.block_table(0, kept=True)
    if type(table.read()) is list:
        table.append(99)
    expect(
        list(life.cache.block_table(0)), life.books.tables[0], "block_table after the caller wrote into an earlier one"
    )


@task(2, after="fresh_append")
def test_cache_dtype(learner, rng):
    """A cache in float64 keeps all digits, and is float32 by default."""
    life = Life(learner, rng, 4, 2, 2, 3, dtype=torch.float64)
    life.append(0, 3)
    life.has_tokens(0, after="an append in float64")


# Task 3


@task(3, after="fresh_append")
def test_fresh_fork(learner, rng):
    """A fork takes no block. Who writes into a shared, partly filled block gets a copy; its last user needs none."""
    life = Life(learner, rng, 9, 4, 2, 3)
    life.append(8, 1)
    life.append(0, 6)
    life.fork(0, 5)
    life.has_tables(0, 5, after="a fork")
    life.has_tokens(0, 5, after="a fork")
    life.append(5, 1)
    life.has_tables(0, 5, after="a fork, and the child wrote")
    life.has_tokens(0, 5, after="a fork, and the child wrote")
    life.append(0, 4)
    life.has_tables(0, 5, after="a fork, and both wrote")
    life.has_tokens(0, 5, 8, after="a fork, and both wrote")
    life.fork(8, 9)
    life.append(8, 6)
    life.has_tables(8, 9, after="a fork, and the parent wrote first")
    life.has_tokens(8, 9, 0, 5, after="a fork, and the parent wrote first")


@task(3, after="fresh_append")
def test_copies_only_what_it_must(learner, rng):
    """Full blocks are never copied, and no block is copied whose other users are gone."""
    life = Life(learner, rng, 4, 3, 1, 2)
    life.append(0, 6)
    life.fork(0, 1)
    life.append(1, 2)
    life.append(0, 1)  # takes the last block
    life.has_tables(0, 1, after="a fork at the end of a block")
    life.release(0)
    life.fork(1, 2)
    life.release(1)
    life.append(2, 1)
    life.has_tables(2, after="the parent was released before the child wrote")
    life.has_tokens(2, after="the parent was released before the child wrote")
    life.release(2)
    life.has_tables(after="every sequence was released")


@task(3, after="fresh_fork")
def test_many_children(learner, rng):
    """Children and children's children share blocks, and these are free when the last sequence is released."""
    life = Life(learner, rng, 10, 4, 1, 2)
    life.append(0, 7)
    for parent, child in ((0, 1), (0, 2), (1, 3)):
        life.fork(parent, child)
    life.append(3, 2)
    life.append(1, 1)
    life.release(0)
    life.append(2, 3)
    life.has_tables(1, 2, 3, after="three children wrote")
    life.has_tokens(1, 2, 3, after="three children wrote")
    for sequence in (3, 1):
        life.release(sequence)
    life.has_tables(2, after="all but one sequence were released")
    life.release(2)
    life.has_tables(after="every sequence was released")


@task(3, after="fresh_append")
def test_cache_errors(learner, rng):
    """Raises KeyError for a sequence that is not there, ValueError when the child of a fork exists already."""
    life = Life(learner, rng, 4, 2, 1, 2)
    life.append(1, 3)
    life.append(2, 1)
    for child in (2, 1):
        refuses(ValueError, life.cache.fork, 1, child)
    life.has_tables(1, 2, after="forks that were refused")
    for method in ("block_table", "length", "release"):
        refuses(KeyError, getattr(life.cache, method), 0)
    refuses(KeyError, life.cache.fork, 0, 5)
    refuses(KeyError, life.cache.length, 5)
    refuses(KeyError, life.cache.block_table, 5)
    life.release(2)
    refuses(KeyError, life.cache.block_table, 2)
    refuses(KeyError, life.cache.length, 2)
    life.release(1)
    life.has_tables(after="every sequence was released")


# Task 4


@task(4, after="fresh_append")
def test_atomic(learner, rng):
    """An append that finds too few blocks raises RuntimeError and changes nothing; what fits still works afterwards."""
    life = Life(learner, rng, 5, 3, 1, 2)
    life.append(0, 4)
    life.append(1, 3)
    life.refuses_to_grow(0, 9)
    life.has_tables(0, 1, after="an append that failed")
    life.has_tokens(0, after="an append that failed")
    life.refuses_to_grow(7, 7)
    refuses(KeyError, life.cache.length, 7)
    refuses(KeyError, life.cache.block_table, 7)
    life.append(2, 3)
    life.append(0, 3)
    life.append(0, 2)
    life.has_tables(0, 2, after="an append that failed and others that take all that is left")
    life.refuses_to_grow(1, 1)
    life.has_tables(0, 1, after="an append that failed with no block free")
    life.has_tokens(0, 1, after="an append that failed with no block free")


@task(4, after=("fresh_fork", "atomic"))
def test_atomic_copies(learner, rng):
    """The copy of a shared block counts, too: without a block for it, the append fails and changes nothing."""
    life = Life(learner, rng, 3, 4, 1, 2)
    life.append(0, 6)
    life.fork(0, 1)
    life.refuses_to_grow(1, 3)  # a copy and one block more
    life.has_tables(0, 1, after="an append that failed after a fork")
    life.append(2, 1)
    life.refuses_to_grow(0, 1)  # a copy alone, and no block is free
    life.has_tables(0, 1, 2, after="an append that found no block for its copy")
    life.has_tokens(0, 1, 2, after="an append that found no block for its copy")
    life.release(1)
    life.append(0, 2)  # the last user needs no copy
    life.has_tables(0, 2, after="the other user was released")
    life.has_tokens(0, 2, after="the other user was released")


# Task 5


@task(5)
def test_fresh_attention(learner, rng):
    """It is the attention of each newest token to its own sequence, whatever the order of the blocks in the pool."""
    for sizes in BATCHES:
        inputs = batch(rng, *sizes)
        expect(learner.paged_attention(*inputs), attention(*inputs))
    queries, keys, values, *_ = batch(rng, 3, 2, 2, 3, 2, (4, 3, 6))
    tables, lengths = torch.tensor([[5, 1, -1], [5, 0, -1], [5, 1, 3]]), torch.tensor([4, 3, 6])  # blocks are shared
    expect(
        learner.paged_attention(queries, keys, values, tables, lengths),
        attention(queries, keys, values, tables, lengths),
    )
    strided = rng.strided(3, 2, 3), rng.strided(7, 2, 2, 3), rng.strided(7, 2, 2, 3)
    apart = tables.T.contiguous().T, lengths
    expect(learner.paged_attention(*strided, *apart), attention(*strided, *apart))


@task(5, after="fresh_attention")
def test_grouped_heads(learner, rng):
    """With more heads than num_kv_heads, neighbouring heads share keys and values, as in grouped-query attention."""
    for sizes in GROUPED:
        inputs = batch(rng, *sizes)
        expect(learner.paged_attention(*inputs), attention(*inputs))


@task(5)
def test_unused_slots(learner, rng):
    """Slots and blocks that no sequence uses may hold NaN."""
    for sizes in (BATCHES[0], (2, 2, 2, 3, 4, (9, 2))):
        queries, *pools, tables, lengths = batch(rng, *sizes)
        inputs = (queries, *with_nan(*pools, tables, lengths), tables, lengths)
        expect(learner.paged_attention(*inputs), attention(*inputs))


@task(5)
def test_large_scores(learner):
    """Scores of ±10,000 give no NaN and no infinity."""
    keys = torch.tensor([[100.0, -100.0], [-100.0, 100.0], [-100.0, -100.0]]).reshape(3, 2, 1, 1).repeat(1, 1, 1, 2)
    values = torch.tensor([[1.0, 2.0], [4.0, 8.0], [16.0, 32.0]]).reshape(3, 2, 1, 1).repeat(1, 1, 1, 2)
    queries, tables = torch.full((2, 1, 2), 50 * 2**0.5), torch.tensor([[1, 0], [2, -1]])
    expected = torch.tensor([4.5, 24.0]).reshape(2, 1, 1).repeat(1, 1, 2)
    got = learner.paged_attention(queries, keys, values, tables, torch.tensor([4, 2]))
    expect(got, expected, tolerance=5 * LARGE_TOLERANCE)  # the values are up to 24


# All tasks


@task(5, after=ATTENTION)
def test_gradients(learner, reference, rng):
    """Gradients flow back to queries and pools and are correct; at slots that nobody uses they are 0."""
    queries, *pools, tables, lengths = batch(rng, 3, 4, 2, 3, 3, (4, 1, 6))
    inputs = (queries, *with_nan(*pools, tables, lengths), tables, lengths)
    same_gradients(learner.paged_attention, reference.paged_attention, *inputs)


@task(5, after=ATTENTION)
def test_dtypes(learner, reference, rng):
    """Works in float64: the result keeps the dtype of the inputs."""
    inputs = batch(rng, *GROUPED[0])
    keeps_dtype(learner.paged_attention, reference.paged_attention, *inputs, dtypes=(torch.float64,))


@task(5, after=ATTENTION)
def test_inputs_unchanged(learner, rng):
    """paged_attention changes none of its inputs, and a second call gives the same."""
    keeps_inputs(learner.paged_attention, *batch(rng, *GROUPED[0]))


@task(
    5,
    each={
        "BlockAllocator": ("fresh_allocator", "shared_blocks"),
        "PagedCache": ("fresh_append", "fresh_fork"),
        "paged_attention": ATTENTION,
    },
)
def test_argument_names(learner, rng):
    """Arguments have the names used in the lesson."""
    allocator = learner.BlockAllocator(num_blocks=2)
    allocator.allocate()
    allocator.share(block=0)
    allocator.free(block=0)
    cache = learner.PagedCache(num_blocks=4, block_size=2, num_kv_heads=1, head_dim=2, dtype=torch.float32)
    cache.append(sequence=0, keys=rng.randn(1, 3, 2), values=rng.randn(1, 3, 2))
    cache.fork(parent=0, child=1)
    cache.length(sequence=1)
    cache.block_table(sequence=1)
    cache.release(sequence=1)
    names = ("queries", "key_pool", "value_pool", "block_tables", "lengths")
    learner.paged_attention(**dict(zip(names, batch(rng, *GROUPED[0]), strict=True)))


@task(5, after=ATTENTION)
def test_memory(learner, rng, within_memory):
    """One sequence of 32,768 tokens among 63 of 16 takes less than 64 MiB, and the result is right."""
    lengths = [SHORT] * SEQUENCES
    lengths[rng.integer(1, SEQUENCES - 1)] = LONG
    inputs = batch(rng, SEQUENCES, 1, 1, SIZE, BLOCK, tuple(lengths))
    got = within_memory(learner.paged_attention, *inputs, mebibytes=ALLOWED)
    expect_shape(got, (SEQUENCES, 1, SIZE))
    queries, keys, values, tables, _ = inputs
    for row, length in enumerate(lengths):
        blocks = tables[row, : length // BLOCK]
        near, mixed = (pool[blocks].flatten(0, 2).double() for pool in (keys, values))
        weights = torch.softmax(near @ queries[row, 0].double() / SIZE**0.5, dim=0)
        expect(got[row, 0], (weights @ mixed).float(), "the result for one of the sequences")
