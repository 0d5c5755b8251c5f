"""Autograd keeps every tile of the forward pass, together a table of T × T: let it call flash_attention_backward."""


def flash_attention(
    query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, block_size: int = 64, causal: bool = False
) -> torch.Tensor:
    return attention_and_logsumexp(query, keys, values, block_size, causal)[0]
