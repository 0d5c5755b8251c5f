"""The scores are not divided by √d_k before the softmax."""


def scaled_attention_weights(query: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    scores = query @ keys.transpose(-2, -1)  # (…, T_q, T_k)
    return torch.softmax(scores, dim=-1)  # (…, T_q, T_k)
