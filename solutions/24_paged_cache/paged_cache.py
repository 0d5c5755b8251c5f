"""Exercise 24: Paged cache. Many sequences in the blocks of one pool, shared until somebody writes."""

import torch


class BlockAllocator:
    """Counts the users of each block. The blocks are numbered from 0."""

    def __init__(self, num_blocks: int):
        """At the start every block is free.

        Args:
            num_blocks: how many blocks there are.
        """
        # Task 1: count the users of each block.
        self.users = [0] * num_blocks  # by block

    @property
    def num_free(self) -> int:
        """How many blocks nobody uses; read as `allocator.num_free`."""
        return self.users.count(0)

    def allocate(self) -> int:
        """Take the free block with the lowest number; it has one user now.

        Raises:
            RuntimeError: no block is free.
        """
        if self.num_free == 0:
            raise RuntimeError("no block is free")
        block = self.users.index(0)
        self.users[block] = 1
        return block

    def share(self, block: int) -> None:
        """Add a user to a block.

        Raises:
            ValueError: nobody uses this block, or there is no such block.
        """
        if not 0 <= block < len(self.users) or self.users[block] == 0:
            raise ValueError(f"nobody uses block {block}")
        self.users[block] += 1

    def free(self, block: int) -> None:
        """Take a user away from a block, which is free when none is left.

        Raises:
            ValueError: nobody uses this block, or there is no such block.
        """
        if not 0 <= block < len(self.users) or self.users[block] == 0:
            raise ValueError(f"nobody uses block {block}")
        self.users[block] -= 1


class PagedCache:
    """The keys and values of many sequences, in blocks of `block_size` tokens.

    Attributes:
        keys, values: the pools, (num_blocks, block_size, num_kv_heads, head_dim), written in place.
    """

    def __init__(
        self,
        num_blocks: int,
        block_size: int,
        num_kv_heads: int,
        head_dim: int,
        dtype: torch.dtype = torch.float32,
    ):
        """At the start there is no sequence, and every block is free."""
        # Task 2: make the two pools, once, and a record of which sequence has which blocks.
        shape = (num_blocks, block_size, num_kv_heads, head_dim)
        self.keys, self.values = torch.zeros(shape, dtype=dtype), torch.zeros(shape, dtype=dtype)
        self.block_size = block_size
        self.allocator = BlockAllocator(num_blocks)
        self.tables: dict[int, list[int]] = {}  # by sequence
        self.lengths: dict[int, int] = {}

    @property
    def num_free(self) -> int:
        """How many blocks no sequence uses; read as `cache.num_free`."""
        return self.allocator.num_free

    def block_table(self, sequence: int) -> list[int]:
        """The sequence's blocks in the order of its tokens, as a new list.

        Raises:
            KeyError: there is no such sequence.
        """
        return list(self.tables[sequence])

    def length(self, sequence: int) -> int:
        """How many tokens the sequence has.

        Raises:
            KeyError: there is no such sequence.
        """
        return self.lengths[sequence]

    def append(self, sequence: int, keys: torch.Tensor, values: torch.Tensor) -> None:
        """Append the keys and values of new tokens to those of the sequence. A new sequence begins empty.

        Args:
            sequence: any int.
            keys: shape (num_kv_heads, T, head_dim), in the dtype of the cache.
            values: shape (num_kv_heads, T, head_dim).

        Raises:
            RuntimeError: too few blocks are free; then nothing has changed.
        """
        # Task 2: take the blocks that are missing, and write. Task 3: copy a shared block before you write into it.
        # Task 4: count what you need before you take anything.
        table, length = list(self.tables.get(sequence, [])), self.lengths.get(sequence, 0)
        end = length + keys.shape[1]
        missing = -(-end // self.block_size) - len(table)
        must_copy = length % self.block_size > 0 and self.allocator.users[table[-1]] > 1
        if missing + must_copy > self.num_free:
            raise RuntimeError(f"{missing + must_copy} blocks are needed, {self.num_free} are free")
        if must_copy:
            shared, table[-1] = table[-1], self.allocator.allocate()
            self.keys[table[-1]] = self.keys[shared]
            self.values[table[-1]] = self.values[shared]
            self.allocator.free(shared)
        table += [self.allocator.allocate() for _ in range(missing)]
        places = torch.arange(length, end)
        blocks, slots = torch.tensor(table)[places // self.block_size], places % self.block_size
        self.keys[blocks, slots] = keys.detach().transpose(0, 1)  # (T, num_kv_heads, head_dim)
        self.values[blocks, slots] = values.detach().transpose(0, 1)
        self.tables[sequence], self.lengths[sequence] = table, end

    def fork(self, parent: int, child: int) -> None:
        """Begin a sequence with all tokens of another one, in the same blocks.

        Raises:
            KeyError: there is no such parent.
            ValueError: the child exists already.
        """
        # Task 3: no number is copied here.
        if child in self.tables:
            raise ValueError(f"the sequence {child} exists already")
        self.tables[child], self.lengths[child] = list(self.tables[parent]), self.lengths[parent]
        for block in self.tables[child]:
            self.allocator.share(block)

    def release(self, sequence: int) -> None:
        """Forget a sequence. Blocks that nobody else uses are free again.

        Raises:
            KeyError: there is no such sequence.
        """
        for block in self.tables.pop(sequence):
            self.allocator.free(block)
        del self.lengths[sequence]


def paged_attention(
    queries: torch.Tensor,
    key_pool: torch.Tensor,
    value_pool: torch.Tensor,
    block_tables: torch.Tensor,
    lengths: torch.Tensor,
) -> torch.Tensor:
    """Attention of the newest token of each sequence to all tokens of that sequence, scale √h.

    Args:
        queries: shape (S, H, h), one token of each sequence, whose key and value are in the pools already.
        key_pool: shape (num_blocks, block_size, num_kv_heads, h); num_kv_heads divides H.
        value_pool: the same shape.
        block_tables: shape (S, most blocks), int64; −1 after the last block of a sequence.
        lengths: shape (S,), int64, at least 1: the tokens of each sequence, the newest one included.

    Returns:
        shape (S, H, h).
    """
    # Task 5: one sequence at a time, and only its own blocks.
    block_size, num_kv_heads, h = key_pool.shape[1:]
    outputs = []
    for query, table, length in zip(queries, block_tables, lengths.tolist(), strict=True):
        blocks = table[: -(-length // block_size)]
        keys = key_pool[blocks].flatten(0, 1)[:length].permute(1, 2, 0)  # (num_kv_heads, h, T)
        values = value_pool[blocks].flatten(0, 1)[:length].transpose(0, 1)  # (num_kv_heads, T, h)
        groups = query.unflatten(0, (num_kv_heads, -1))  # (num_kv_heads, heads in a group, h)
        weights = torch.softmax(groups @ keys / h**0.5, dim=-1)  # (num_kv_heads, heads in a group, T)
        outputs.append((weights @ values).flatten(0, 1))  # (H, h)
    return torch.stack(outputs)  # (S, H, h)
