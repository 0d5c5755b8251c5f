"""A heap of free blocks, a small class for each sequence, and loops over tokens."""

import heapq
import math

import torch


class BlockAllocator:
    def __init__(self, num_blocks):
        self.available = list(range(num_blocks))
        self.counts = {}

    @property
    def num_free(self):
        return len(self.available)

    def allocate(self):
        if not self.available:
            raise RuntimeError("out of blocks")
        block = heapq.heappop(self.available)
        self.counts[block] = 1
        return block

    def share(self, block):
        if block not in self.counts:
            raise ValueError(block)
        self.counts[block] += 1

    def free(self, block):
        if block not in self.counts:
            raise ValueError(block)
        self.counts[block] -= 1
        if self.counts[block] == 0:
            del self.counts[block]
            heapq.heappush(self.available, block)


class Sequence:
    def __init__(self):
        self.blocks = []
        self.length = 0


class PagedCache:
    def __init__(self, num_blocks, block_size, num_kv_heads, head_dim, dtype=torch.float32):
        self.block_size = block_size
        self.keys = torch.empty(num_blocks, block_size, num_kv_heads, head_dim, dtype=dtype)
        self.values = torch.empty(num_blocks, block_size, num_kv_heads, head_dim, dtype=dtype)
        self.allocator = BlockAllocator(num_blocks)
        self.sequences = {}

    @property
    def num_free(self):
        return self.allocator.num_free

    def block_table(self, sequence):
        return self.sequences[sequence].blocks[:]

    def length(self, sequence):
        return self.sequences[sequence].length

    def needed(self, one, tokens):
        total = math.ceil((one.length + tokens) / self.block_size) - len(one.blocks)
        if one.length % self.block_size != 0 and self.allocator.counts[one.blocks[-1]] > 1:
            total += 1
        return total

    @torch.no_grad()
    def append(self, sequence, keys, values):
        one = self.sequences.get(sequence) or Sequence()
        if self.needed(one, keys.shape[1]) > self.num_free:
            raise RuntimeError("out of blocks")
        self.sequences[sequence] = one
        for t in range(keys.shape[1]):
            slot = one.length % self.block_size
            if slot == 0:
                one.blocks.append(self.allocator.allocate())
            elif self.allocator.counts[one.blocks[-1]] > 1:
                old, new = one.blocks[-1], self.allocator.allocate()
                for s in range(slot):
                    self.keys[new, s] = self.keys[old, s]
                    self.values[new, s] = self.values[old, s]
                self.allocator.free(old)
                one.blocks[-1] = new
            self.keys[one.blocks[-1], slot] = keys[:, t]
            self.values[one.blocks[-1], slot] = values[:, t]
            one.length += 1

    def fork(self, parent, child):
        source = self.sequences[parent]
        if child in self.sequences:
            raise ValueError(child)
        copy = Sequence()
        copy.blocks, copy.length = source.blocks[:], source.length
        for block in copy.blocks:
            self.allocator.share(block)
        self.sequences[child] = copy

    def release(self, sequence):
        one = self.sequences[sequence]
        for block in one.blocks:
            self.allocator.free(block)
        del self.sequences[sequence]


def paged_attention(queries, key_pool, value_pool, block_tables, lengths):
    S, H, h = queries.shape
    block_size, num_kv_heads = key_pool.shape[1], key_pool.shape[2]
    rows = []
    for s in range(S):
        length = int(lengths[s])
        places = torch.arange(length, device=queries.device)
        blocks, slots = block_tables[s][places // block_size], places % block_size
        heads = []
        for head in range(H):
            group = head * num_kv_heads // H
            keys, values = key_pool[blocks, slots, group], value_pool[blocks, slots, group]
            scores = (keys * queries[s, head]).sum(-1) / math.sqrt(h)
            powers = (scores - scores.max()).exp()
            heads.append((powers[:, None] * values).sum(0) / powers.sum())
        rows.append(torch.stack(heads))
    return torch.stack(rows)
