"""Exercise 18: Padding and packing. Batches of sequences that differ in length, with padding and without."""

import torch


def key_padding_mask(lengths: torch.Tensor, num_tokens: int, side: str = "right") -> torch.Tensor:
    """Which places of a batch hold a real token.

    Args:
        lengths: how many real tokens each sequence has, shape (B,), int64.
        num_tokens: how many places each sequence has, padding included.
        side: where the padding is: "right" or "left".

    Returns:
        bool, shape (B, num_tokens): True at real tokens.

    Raises:
        ValueError: for any other side, and for a length below 0 or above num_tokens.
    """
    # Task 1: refuse first; then compare the places 0, 1, … with the lengths.
    raise NotImplementedError


def masked_softmax(scores: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Attention weights over the places that may be seen.

    Args:
        scores: shape (…, T_q, T_k); where the mask is False they may be anything, NaN and inf included.
        mask: bool, True where a query may attend; of the shape of the scores, or of one that broadcasts to it.

    Returns:
        weights, of the shape of the scores. A row that may see nothing is all 0.
    """
    # Task 2: hide before the softmax; then look after the rows in which everything is hidden.
    raise NotImplementedError


def additive_mask(mask: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """The same mask as numbers to be added to scores.

    Args:
        mask: bool of any shape, True where a query may attend.
        dtype: a floating-point dtype, that of the scores.

    Returns:
        the same shape, of this dtype: 0 where the mask is True, and the lowest number that the dtype has elsewhere.
    """
    # Task 3: the lowest number differs from one dtype to another.
    raise NotImplementedError


def padded_attention(
    queries: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    lengths: torch.Tensor,
    side: str = "right",
    causal: bool = False,
) -> torch.Tensor:
    """Attention in a batch with padding, in which each sequence gets what it would get alone.

    Args:
        queries, keys, values: shape (B, H, T, h) each; padding may hold anything, NaN and inf included.
        lengths: how many real tokens each sequence has, shape (B,), int64.
        side: where the padding is: "right" or "left".
        causal: whether a token may attend only to itself and to earlier ones.

    Returns:
        the context vectors, shape (B, H, T, h); 0 at padding.

    Raises:
        ValueError: for the sides and lengths that key_padding_mask refuses.
    """
    # Task 4: let nothing that padding holds come near a product: 0 · NaN is NaN, forward and backward.
    raise NotImplementedError


def pack(x: torch.Tensor, lengths: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The real tokens of a right-padded batch, one sequence after the other.

    Args:
        x: shape (B, T, …), of any dtype, with any number of further dimensions.
        lengths: how many real tokens each sequence has, shape (B,), int64.

    Returns:
        the tokens, shape (total, …), and where each sequence begins, shape (B + 1,), int32: from 0 to the total.

    Raises:
        ValueError: for a length below 0 or above T.
    """
    # Task 5: a bool mask of shape (B, T) picks tokens out of (B, T, …).
    raise NotImplementedError


def unpack(packed: torch.Tensor, cu_seqlens: torch.Tensor, num_tokens: int) -> torch.Tensor:
    """The way back: a right-padded batch.

    Args:
        packed: shape (total, …).
        cu_seqlens: where each sequence begins, and the total, shape (B + 1,), int32.
        num_tokens: how many places each sequence gets, padding included.

    Returns:
        shape (B, num_tokens, …), of the dtype of `packed`; 0 at padding (False, if it is bool).

    Raises:
        ValueError: for a sequence that is longer than num_tokens.
    """
    # Task 5: the same mask says where the tokens go.
    raise NotImplementedError


def packed_attention(
    queries: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    cu_seqlens: torch.Tensor,
    causal: bool = False,
) -> torch.Tensor:
    """Attention over packed sequences: no token sees another sequence, and nothing is padded.

    Args:
        queries, keys, values: shape (total, H, h) each.
        cu_seqlens: where each sequence begins, and the total, shape (B + 1,), int32.
        causal: whether a token may attend only to itself and to earlier ones.

    Returns:
        the context vectors, shape (total, H, h).
    """
    # Task 6: one sequence at a time: only the scores within a sequence are made.
    raise NotImplementedError
