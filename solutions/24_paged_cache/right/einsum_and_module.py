"""An nn.Module with buffers, users kept beside the tables, and einsum over padded groups of equal length."""

import torch
from torch import nn


class BlockAllocator:
    def __init__(self, num_blocks):
        self.num_blocks = num_blocks
        self.refs = [0 for _ in range(num_blocks)]

    @property
    def num_free(self):
        return sum(1 for count in self.refs if not count)

    def allocate(self):
        for block, count in enumerate(self.refs):
            if count == 0:
                self.refs[block] += 1
                return block
        raise RuntimeError

    def share(self, block):
        if block not in range(self.num_blocks) or not self.refs[block]:
            raise ValueError
        self.refs[block] += 1

    def free(self, block):
        if block not in range(self.num_blocks) or not self.refs[block]:
            raise ValueError
        self.refs[block] -= 1


class PagedCache(nn.Module):
    def __init__(self, num_blocks, block_size, num_kv_heads, head_dim, dtype=torch.float32):
        super().__init__()
        self.block_size = block_size
        self.allocator = BlockAllocator(num_blocks)
        self.register_buffer("keys", torch.zeros((num_blocks, block_size, num_kv_heads, head_dim), dtype=dtype))
        self.register_buffer("values", torch.zeros((num_blocks, block_size, num_kv_heads, head_dim), dtype=dtype))
        self.state = {}

    @property
    def num_free(self):
        return self.allocator.num_free

    def block_table(self, sequence):
        return list(self.state[sequence]["table"])

    def length(self, sequence):
        return self.state[sequence]["length"]

    def append(self, sequence, keys, values):
        entry = self.state.get(sequence, {"table": [], "length": 0})
        table, n, T = entry["table"], entry["length"], keys.shape[-2]
        room = len(table) * self.block_size - n
        extra = max(0, T - room)
        extra = extra // self.block_size + bool(extra % self.block_size)
        shared = room > 0 and self.allocator.refs[table[-1]] > 1
        if self.num_free < extra + shared:
            raise RuntimeError("memory is full")
        if shared:
            fresh = self.allocator.allocate()
            self.keys[fresh].copy_(self.keys[table[-1]])
            self.values[fresh].copy_(self.values[table[-1]])
            self.allocator.free(table[-1])
            table = table[:-1] + [fresh]
        table = table + [self.allocator.allocate() for _ in range(extra)]
        flat = [table[t // self.block_size] * self.block_size + t % self.block_size for t in range(n, n + T)]
        self.keys.view(-1, *self.keys.shape[2:])[flat] = torch.einsum("htd->thd", keys.detach())
        self.values.view(-1, *self.values.shape[2:])[flat] = torch.einsum("htd->thd", values.detach())
        self.state[sequence] = {"table": table, "length": n + T}

    def fork(self, parent, child):
        if child in self.state:
            raise ValueError(f"{child} is taken")
        self.state[child] = dict(self.state[parent])
        for block in self.state[child]["table"]:
            self.allocator.share(block)

    def release(self, sequence):
        for block in self.state.pop(sequence)["table"]:
            self.allocator.free(block)


def paged_attention(queries, key_pool, value_pool, block_tables, lengths):
    size, kv, h = key_pool.shape[1:]
    result = torch.zeros_like(queries)
    for length in lengths.unique().tolist():
        rows = (lengths == length).nonzero()[:, 0]
        tables = block_tables[rows, : (length - 1) // size + 1]  # (n, blocks)
        keys = key_pool[tables].flatten(1, 2)[:, :length]  # (n, T, kv, h)
        values = value_pool[tables].flatten(1, 2)[:, :length]
        grouped = queries[rows].reshape(len(rows), kv, -1, h)
        scores = torch.einsum("ngqh,ntgh->ngqt", grouped, keys) / h**0.5
        mixed = torch.einsum("ngqt,ntgh->ngqh", scores.softmax(dim=-1), values)
        result = result.index_copy(0, rows, mixed.flatten(1, 2))
    return result
