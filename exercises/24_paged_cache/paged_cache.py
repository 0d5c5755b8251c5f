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
        raise NotImplementedError

    @property
    def num_free(self) -> int:
        """How many blocks nobody uses; read as `allocator.num_free`."""
        raise NotImplementedError

    def allocate(self) -> int:
        """Take the free block with the lowest number; it has one user now.

        Raises:
            RuntimeError: no block is free.
        """
        raise NotImplementedError

    def share(self, block: int) -> None:
        """Add a user to a block.

        Raises:
            ValueError: nobody uses this block, or there is no such block.
        """
        raise NotImplementedError

    def free(self, block: int) -> None:
        """Take a user away from a block, which is free when none is left.

        Raises:
            ValueError: nobody uses this block, or there is no such block.
        """
        raise NotImplementedError


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
        raise NotImplementedError

    @property
    def num_free(self) -> int:
        """How many blocks no sequence uses; read as `cache.num_free`."""
        raise NotImplementedError

    def block_table(self, sequence: int) -> list[int]:
        """The sequence's blocks in the order of its tokens, as a new list.

        Raises:
            KeyError: there is no such sequence.
        """
        raise NotImplementedError

    def length(self, sequence: int) -> int:
        """How many tokens the sequence has.

        Raises:
            KeyError: there is no such sequence.
        """
        raise NotImplementedError

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
        raise NotImplementedError

    def fork(self, parent: int, child: int) -> None:
        """Begin a sequence with all tokens of another one, in the same blocks.

        Raises:
            KeyError: there is no such parent.
            ValueError: the child exists already.
        """
        # Task 3: no number is copied here.
        raise NotImplementedError

    def release(self, sequence: int) -> None:
        """Forget a sequence. Blocks that nobody else uses are free again.

        Raises:
            KeyError: there is no such sequence.
        """
        raise NotImplementedError


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
    raise NotImplementedError
