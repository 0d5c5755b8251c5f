"""torch's attention for each sequence, and an append that takes blocks and gives them back if there are too few."""

import torch
import torch.nn.functional as F


class BlockAllocator:
    def __init__(self, num_blocks: int):
        self._free = set(range(num_blocks))
        self._used: dict[int, int] = {}
        self.num_free = num_blocks

    def _count(self):
        self.num_free = len(self._free)

    def allocate(self) -> int:
        try:
            block = min(self._free)
        except ValueError:
            raise RuntimeError("no block left") from None
        self._free.remove(block)
        self._used[block] = 1
        self._count()
        return block

    def share(self, block: int) -> None:
        try:
            self._used[block] += 1
        except KeyError:
            raise ValueError(f"{block} is not in use") from None

    def free(self, block: int) -> None:
        if self._used.get(block, 0) == 0:
            raise ValueError(f"{block} is not in use")
        if self._used[block] > 1:
            self._used[block] -= 1
        else:
            self._free.add(block)
            self._used.pop(block)
        self._count()

    def is_shared(self, block: int) -> bool:
        return self._used[block] > 1


class PagedCache:
    def __init__(self, num_blocks, block_size, num_kv_heads, head_dim, dtype=torch.float32):
        self.keys = torch.zeros(num_blocks, block_size, num_kv_heads, head_dim, dtype=dtype)
        self.values = self.keys.clone()
        self._blocks = BlockAllocator(num_blocks)
        self._tables, self._lengths = {}, {}

    def __getattr__(self, name):
        if name == "num_free":
            return self._blocks.num_free
        raise AttributeError(name)

    def block_table(self, sequence):
        return self._tables[sequence].copy()

    def length(self, sequence):
        self._tables[sequence]
        return self._lengths[sequence]

    def append(self, sequence, keys, values):
        size, tokens = self.keys.shape[1], keys.shape[1]
        table = list(self._tables.get(sequence, []))
        start = self._lengths.get(sequence, 0)
        taken, leaves = [], None
        try:
            if start % size and self._blocks.is_shared(table[-1]):
                leaves = table.pop()
                taken.append(self._blocks.allocate())
            while (len(table) + len(taken)) * size < start + tokens:
                taken.append(self._blocks.allocate())
        except RuntimeError:
            for block in taken:
                self._blocks.free(block)
            raise
        with torch.no_grad():
            if leaves is not None:
                filled = start % size
                self.keys[taken[0], :filled].copy_(self.keys[leaves, :filled])
                self.values[taken[0], :filled].copy_(self.values[leaves, :filled])
                self._blocks.free(leaves)
            table.extend(taken)
            done = 0
            while done < tokens:  # as much as fits into one block
                block, slot = table[(start + done) // size], (start + done) % size
                count = min(size - slot, tokens - done)
                self.keys[block, slot : slot + count] = keys[:, done : done + count].permute(1, 0, 2)
                self.values[block, slot : slot + count] = values[:, done : done + count].permute(1, 0, 2)
                done += count
        self._tables[sequence], self._lengths[sequence] = table, start + tokens

    def fork(self, parent, child):
        table = self.block_table(parent)
        if child in self._tables:
            raise ValueError("the child exists")
        for block in table:
            self._blocks.share(block)
        self._tables[child] = table
        self._lengths[child] = self._lengths[parent]

    def release(self, sequence):
        table = self._tables.pop(sequence)
        self._lengths.pop(sequence)
        for block in reversed(table):
            self._blocks.free(block)


def paged_attention(queries, key_pool, value_pool, block_tables, lengths):
    outputs = torch.empty_like(queries)
    rows = []
    for s, length in enumerate(lengths):
        used = block_tables[s][block_tables[s] >= 0]
        keys, values = (
            pool.index_select(0, used).reshape(-1, *pool.shape[2:])[: int(length)].transpose(0, 1)
            for pool in (key_pool, value_pool)
        )
        rows.append(F.scaled_dot_product_attention(queries[s].unsqueeze(1), keys, values, enable_gqa=True).squeeze(1))
    return torch.stack(rows).reshape(outputs.shape)
