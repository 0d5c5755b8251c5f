"""No gradient comes back: the forward pass is cut off from autograd."""


def flash_attention(
    query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, block_size: int = 64, causal: bool = False
) -> torch.Tensor:
    return FlashAttention.apply(query, keys, values, block_size, causal).detach()
