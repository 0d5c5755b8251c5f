"""flash_attention calls its argument is_causal. The lesson calls it causal: callers may use the name."""


def flash_attention(
    query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, block_size: int = 64, is_causal: bool = False
) -> torch.Tensor:
    causal = is_causal
    return FlashAttention.apply(query, keys, values, block_size, causal)
