"""The softmax runs over the queries: each query shares out 1 among the keys, the last dimension. Look at dim."""


def scaled_attention_weights(query: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    scores = query @ keys.transpose(-2, -1)  # (…, T_q, T_k)
    scores = scores / keys.shape[-1] ** 0.5  # (…, T_q, T_k)
    return torch.softmax(scores, dim=-2 if scores.ndim > 1 else -1)  # (…, T_q, T_k)
