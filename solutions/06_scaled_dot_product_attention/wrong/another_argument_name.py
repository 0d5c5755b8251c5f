"""scaled_attention_weights calls its argument queries. The lesson calls it query: callers may use the name."""


def scaled_attention_weights(queries: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    query = queries
    scores = query @ keys.transpose(-2, -1)  # (…, T_q, T_k)
    return torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)  # (…, T_q, T_k)
