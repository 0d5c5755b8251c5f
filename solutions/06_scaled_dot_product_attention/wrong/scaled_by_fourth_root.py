"""The scores are divided by the fourth root of d_k: the root is taken twice, and once is enough."""


def scaled_attention_weights(query: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    scores = query @ keys.transpose(-2, -1)  # (…, T_q, T_k)
    return torch.softmax(scores / keys.shape[-1] ** 0.25, dim=-1)  # (…, T_q, T_k)
