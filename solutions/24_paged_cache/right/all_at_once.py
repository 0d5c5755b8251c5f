"""One flat list of all tokens of all sequences, and a softmax by sequence; the cache counts users from its tables."""

from collections import Counter

import torch


class BlockAllocator:
    def __init__(self, num_blocks):
        self.users = torch.zeros(num_blocks, dtype=torch.long)

    def _demand_used(self, block):
        if block < 0 or block >= len(self.users) or self.users[block].item() < 1:
            raise ValueError(f"block {block} has no user")

    def allocate(self):
        free = (self.users == 0).nonzero()
        if len(free) == 0:
            raise RuntimeError("no free block")
        block = int(free[0])
        self.users[block] = 1
        return block

    def share(self, block):
        self._demand_used(block)
        self.users[block] += 1

    def free(self, block):
        self._demand_used(block)
        self.users[block] -= 1

    num_free = property(lambda self: int((self.users == 0).sum()))


class PagedCache:
    def __init__(self, num_blocks, block_size, num_kv_heads, head_dim, dtype=torch.float32):
        # both pools are parts of one tensor
        self.pool = torch.full((2, num_blocks, block_size, num_kv_heads, head_dim), float("nan"), dtype=dtype)
        self.sequences = {}  # number -> (table, length)

    keys = property(lambda self: self.pool[0])
    values = property(lambda self: self.pool[1])

    def users(self):
        return Counter(block for table, _ in self.sequences.values() for block in table)

    def free_blocks(self):
        used = self.users()
        return [block for block in range(self.pool.shape[1]) if block not in used]

    num_free = property(lambda self: len(self.free_blocks()))

    def block_table(self, sequence):
        return [*self.sequences[sequence][0]]

    def length(self, sequence):
        return self.sequences[sequence][1]

    def append(self, sequence, keys, values):
        table, length = self.sequences.get(sequence, ((), 0))
        size, tokens = self.pool.shape[2], keys.size(1)
        partly = length % size != 0
        copy = partly and self.users()[table[-1]] > 1
        blocks_after = (length + tokens + size - 1) // size
        wanted = blocks_after - len(table) + int(copy)
        free = self.free_blocks()
        if wanted > len(free):
            raise RuntimeError("not enough blocks")
        taken = free[:wanted]
        if copy:
            self.pool[:, taken[0]] = self.pool[:, table[-1]]
            table = table[:-1]
        table = (*table, *taken)
        flat = self.pool.flatten(1, 2)  # a view
        where = torch.tensor([table[t // size] * size + t % size for t in range(length, length + tokens)])
        flat.index_copy_(1, where, torch.stack([keys, values]).detach().transpose(1, 2))
        self.sequences[sequence] = (table, length + tokens)

    def fork(self, parent, child):
        if parent not in self.sequences:
            raise KeyError(parent)
        if child in self.sequences:
            raise ValueError(child)
        self.sequences[child] = self.sequences[parent]

    def release(self, sequence):
        del self.sequences[sequence]


def paged_attention(queries, key_pool, value_pool, block_tables, lengths):
    S, H, h = queries.shape
    size, num_kv_heads = key_pool.shape[1:3]
    owner = torch.repeat_interleave(torch.arange(S), lengths)  # (total,)
    starts = lengths.cumsum(0) - lengths
    place = torch.arange(len(owner)) - starts[owner]
    slots = block_tables[owner, place // size] * size + place % size
    keys = key_pool.flatten(0, 1)[slots].repeat_interleave(H // num_kv_heads, dim=1)  # (total, H, h)
    values = value_pool.flatten(0, 1)[slots].repeat_interleave(H // num_kv_heads, dim=1)
    scores = (queries[owner] * keys).sum(-1) * h**-0.5  # (total, H)
    index = owner[:, None].expand(-1, H)
    most = torch.full((S, H), -torch.inf, dtype=scores.dtype).scatter_reduce(0, index, scores.detach(), "amax")
    powers = (scores - most[owner]).exp()
    sums = torch.zeros(S, H, dtype=scores.dtype).index_add(0, owner, powers)
    weights = powers / sums[owner]
    return torch.zeros_like(queries).index_add(0, owner, weights[..., None] * values)
