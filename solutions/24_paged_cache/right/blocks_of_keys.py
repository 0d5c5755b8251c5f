"""The table as one tensor for all sequences, and attention block by block with a running softmax."""

import torch


class BlockAllocator:
    def __init__(self, num_blocks):
        self.users = [0] * num_blocks
        self.num_free = num_blocks

    def allocate(self):
        if self.num_free <= 0:
            raise RuntimeError("no block is free")
        block = min(i for i, n in enumerate(self.users) if n == 0)
        self.users[block] = 1
        self.num_free -= 1
        return block

    def share(self, block):
        self.demand(block)
        self.users[block] += 1

    def free(self, block):
        self.demand(block)
        self.users[block] -= 1
        self.num_free += self.users[block] == 0

    def demand(self, block):
        if not (0 <= block < len(self.users) and self.users[block] > 0):
            raise ValueError("nobody uses this block")


class PagedCache:
    def __init__(self, num_blocks, block_size, num_kv_heads, head_dim, dtype=torch.float32):
        shape = num_blocks, block_size, num_kv_heads, head_dim
        self.keys, self.values = torch.zeros(*shape, dtype=dtype), torch.zeros(*shape, dtype=dtype)
        self.allocator, self.rows, self.lengths = BlockAllocator(num_blocks), {}, {}
        self.block_size = block_size

    num_free = property(lambda self: self.allocator.num_free)

    def block_table(self, sequence):
        return self.rows[sequence].tolist()

    def length(self, sequence):
        return self.lengths[sequence]

    def append(self, sequence, keys, values):
        row = self.rows.get(sequence, torch.empty(0, dtype=torch.int64))
        first = self.lengths.get(sequence, 0)
        last = first + keys.size(1)
        more = (last - 1) // self.block_size + 1 - len(row)
        copying = bool(first % self.block_size) and self.allocator.users[row[-1]] != 1
        if more + copying > self.num_free:
            raise RuntimeError(f"{more + copying} blocks wanted")
        fresh = [self.allocator.allocate() for _ in range(more + copying)]
        if copying:
            for pool in (self.keys, self.values):
                pool[fresh[0]] = pool[row[-1]]
            self.allocator.free(int(row[-1]))
            row = row[:-1]
        row = torch.cat([row, torch.tensor(fresh, dtype=torch.int64)])
        for t in range(first, last):
            place = row[t // self.block_size], t % self.block_size
            self.keys[place] = keys[:, t - first].detach()
            self.values[place] = values[:, t - first].detach()
        self.rows[sequence], self.lengths[sequence] = row, last

    def fork(self, parent, child):
        if parent not in self.rows:
            raise KeyError(f"no sequence {parent}")
        if child in self.rows:
            raise ValueError(f"sequence {child} exists")
        self.rows[child], self.lengths[child] = self.rows[parent].clone(), self.lengths[parent]
        for block in self.block_table(child):
            self.allocator.share(block)

    def release(self, sequence):
        for block in self.block_table(sequence):
            self.allocator.free(block)
        del self.rows[sequence], self.lengths[sequence]


def paged_attention(queries, key_pool, value_pool, block_tables, lengths):
    S, H, h = queries.shape
    size, groups = key_pool.shape[1], H // key_pool.shape[2]
    most = queries.new_full((S, H), -torch.inf)
    total, mixed = queries.new_zeros(S, H), torch.zeros_like(queries)
    for column in range(block_tables.shape[1]):
        alive = (lengths > column * size).nonzero().flatten()
        blocks = block_tables[alive, column]
        here = torch.arange(size) < (lengths[alive] - column * size)[:, None]  # (n, size)
        hidden = ~here[:, :, None, None]
        keys = key_pool[blocks].masked_fill(hidden, 0).repeat_interleave(groups, 2)  # (n, size, H, h)
        values = value_pool[blocks].masked_fill(hidden, 0).repeat_interleave(groups, 2)
        scores = (queries[alive, None] * keys).sum(-1) / h**0.5  # (n, size, H)
        scores = scores.masked_fill(hidden[..., 0], -torch.inf)
        new = torch.maximum(most[alive], scores.amax(1))
        factor, powers = (most[alive] - new).exp(), (scores - new[:, None]).exp()
        total = total.index_put((alive,), total[alive] * factor + powers.sum(1))
        mixed = mixed.index_put((alive,), mixed[alive] * factor[..., None] + (powers[..., None] * values).sum(1))
        most = most.index_put((alive,), new)
    return mixed / total[..., None]
