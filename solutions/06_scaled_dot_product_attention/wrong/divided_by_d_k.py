"""The scores are divided by d_k itself: divide by its square root."""


def scaled_attention_weights(query: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    scores = query @ keys.transpose(-2, -1)  # (…, T_q, T_k)
    return torch.softmax(scores / keys.shape[-1], dim=-1)  # (…, T_q, T_k)
