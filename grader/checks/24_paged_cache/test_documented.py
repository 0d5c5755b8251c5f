"""The numbers that the lesson prints: blocks, the prompt with its children, and attention through block tables."""

import torch

from grader.authors import Mismatch, expect, expect_shape, task


def one_number_each(*numbers: float) -> torch.Tensor:
    """Keys or values of tokens with one head of one number, (1, T, 1)."""
    return torch.tensor([[[number] for number in numbers]])


def table_of(cache, sequence: int) -> torch.Tensor:
    """The block table of a sequence, as a tensor."""
    table = cache.block_table(sequence)
    if type(table) is not list or not all(type(block) is int for block in table):
        raise Mismatch("block_table does not give a list of ints", "", table)
    return torch.tensor(table)


@task(1)
def test_documented_allocator(learner, documented):
    """Four blocks are taken, shared and freed, and the lesson's numbers come out."""
    allocator = learner.BlockAllocator(4)
    blocks = [allocator.allocate(), allocator.allocate(), allocator.allocate()]
    expect(allocator.num_free.read(), 1, "num_free after three blocks were taken")
    allocator.share(1)
    allocator.free(1)
    expect(allocator.num_free.read(), 1, "num_free while block 1 still has a user")
    allocator.free(1)
    expect([*blocks, allocator.allocate()], documented["blocks"], "the blocks")


@task(2)
def test_documented_append(learner, documented):
    """A prompt of six tokens and a second sequence lie in the blocks of the lesson, number by number."""
    cache = learner.PagedCache(5, 4, 1, 1)
    cache.append(0, one_number_each(1.0, 2.0, 3.0), one_number_each(10.0, 20.0, 30.0))
    cache.append(7, one_number_each(9.0), one_number_each(90.0))
    cache.append(0, one_number_each(4.0, 5.0, 6.0), one_number_each(40.0, 50.0, 60.0))
    expect(table_of(cache, 0), documented["prompt"], "the block table")
    expect((cache.length(0), cache.num_free.read()), (6, 2), "length(0) and num_free")
    keys, values = cache.keys.read(), cache.values.read()
    expect_shape(keys, (5, 4, 1, 1), "the pool of keys")
    expect_shape(values, (5, 4, 1, 1), "the pool of values")
    expect(keys[[0, 2]].flatten()[:6], documented["keys"], "the keys in the blocks of sequence 0")
    expect(values[[0, 2]].flatten()[:6], 10 * keys[[0, 2]].flatten()[:6], "the values in these blocks")


@task(3)
def test_documented_fork(learner, documented):
    """Two children and then their parent write one token each: two blocks are copied, as in the lesson."""
    cache = learner.PagedCache(5, 4, 1, 1)
    prompt = one_number_each(1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
    cache.append(0, prompt, prompt)
    cache.fork(0, 1)
    cache.fork(0, 2)
    expect(cache.num_free.read(), 3, "num_free after two forks")
    for sequence in (1, 2, 0):
        cache.append(sequence, one_number_each(70.0 + sequence), one_number_each(70.0 + sequence))
    tables = torch.stack([table_of(cache, sequence) for sequence in (0, 1, 2)])
    expect(tables, documented["tables"], "the block tables")
    expect(cache.num_free.read(), 1, "num_free after all three wrote")


@task(5)
def test_documented_attention(learner, documented):
    """Two sequences of three and two tokens, scattered over a pool with NaN in it, give the lesson's numbers."""
    nan = torch.nan
    keys = torch.tensor([[4.0, nan], [nan, nan], [1.0, 3.0], [1.0, 3.0]]).log()
    values = torch.tensor([[2.0, nan], [nan, nan], [8.0, 4.0], [8.0, 4.0]])
    queries = torch.tensor([[[1.0], [0.0]], [[1.0], [0.0]]])
    tables, lengths = torch.tensor([[2, 0], [3, -1]]), torch.tensor([3, 2])
    pools = keys.reshape(4, 2, 1, 1), values.reshape(4, 2, 1, 1)
    got = learner.paged_attention(queries, *pools, tables, lengths)
    expect_shape(got, (2, 2, 1))
    expect(got[..., 0], documented["attention"])
