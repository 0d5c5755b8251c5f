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
    if side not in ("right", "left"):
        raise ValueError(f'side is "right" or "left", not {side!r}')
    if ((lengths < 0) | (lengths > num_tokens)).any():
        raise ValueError(f"each length must be from 0 to {num_tokens}")
    places = torch.arange(num_tokens, device=lengths.device)  # (T,)
    if side == "left":
        return places >= num_tokens - lengths[:, None]  # (B, T)
    return places < lengths[:, None]  # (B, T)


def masked_softmax(scores: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Attention weights over the places that may be seen.

    Args:
        scores: shape (…, T_q, T_k); where the mask is False they may be anything, NaN and inf included.
        mask: bool, True where a query may attend; of the shape of the scores, or of one that broadcasts to it.

    Returns:
        weights, of the shape of the scores. A row that may see nothing is all 0.
    """
    # Task 2: hide before the softmax; then look after the rows in which everything is hidden.
    hidden = ~mask
    lowest = torch.finfo(scores.dtype).min  # −inf would make NaN of a row without any True
    weights = torch.softmax(scores.masked_fill(hidden, lowest), dim=-1)  # (…, T_q, T_k)
    return weights.masked_fill(hidden, 0.0)


def additive_mask(mask: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """The same mask as numbers to be added to scores.

    Args:
        mask: bool of any shape, True where a query may attend.
        dtype: a floating-point dtype, that of the scores.

    Returns:
        the same shape, of this dtype: 0 where the mask is True, and the lowest number that the dtype has elsewhere.
    """
    # Task 3: the lowest number differs from one dtype to another.
    numbers = torch.zeros(mask.shape, dtype=dtype, device=mask.device)
    return numbers.masked_fill(~mask, torch.finfo(dtype).min)


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
    T, h = queries.shape[-2:]
    real = key_padding_mask(lengths, T, side)[:, None]  # (B, 1, T)
    padding = ~real[..., None]  # (B, 1, T, 1)
    queries, keys, values = (x.masked_fill(padding, 0.0) for x in (queries, keys, values))  # (B, H, T, h) each
    mask = real[:, :, None]  # (B, 1, 1, T): every query may see the same keys
    if causal:
        mask = mask & torch.ones(T, T, dtype=torch.bool, device=queries.device).tril()  # (B, 1, T, T)
    scores = queries @ keys.mT / h**0.5  # (B, H, T, T)
    context = masked_softmax(scores, mask) @ values  # (B, H, T, h)
    return context.masked_fill(padding, 0.0)


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
    packed = x[key_padding_mask(lengths, x.shape[1])]  # (total, …)
    starts = torch.cat([lengths.new_zeros(1), lengths.cumsum(dim=0)])  # (B + 1,)
    return packed, starts.to(torch.int32)


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
    real = key_padding_mask(cu_seqlens.diff(), num_tokens)  # (B, num_tokens)
    x = packed.new_zeros(*real.shape, *packed.shape[1:])  # (B, num_tokens, …)
    x[real] = packed
    return x


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
    lengths = cu_seqlens.diff().tolist()
    contexts = []
    for sequence in zip(queries.split(lengths), keys.split(lengths), values.split(lengths)):
        q, k, v = (x.transpose(0, 1) for x in sequence)  # (H, n, h) each
        scores = q @ k.mT / q.shape[-1] ** 0.5  # (H, n, n)
        if causal:
            later = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(1)  # (n, n)
            scores = scores.masked_fill(later, -torch.inf)
        contexts.append((torch.softmax(scores, dim=-1) @ v).transpose(0, 1))  # (n, H, h)
    return torch.cat(contexts)  # (total, H, h)
