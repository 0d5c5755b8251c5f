"""The keys are reshaped, not transposed: the right shape, but each column then holds numbers of several keys."""


def scaled_attention_weights(query: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    *lead, T_k, d_k = keys.shape
    scores = query @ keys.reshape(*lead, d_k, T_k)  # (…, T_q, T_k)
    return torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)  # (…, T_q, T_k)
