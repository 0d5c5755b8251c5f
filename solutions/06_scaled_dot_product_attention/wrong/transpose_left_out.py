"""The keys are not transposed: the last dimension of the queries must meet the last dimension of the keys."""


def scaled_attention_weights(query: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    scores = query @ keys  # (…, T_q, T_k)
    return torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)  # (…, T_q, T_k)
