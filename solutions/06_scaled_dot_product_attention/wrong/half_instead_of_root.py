"""The scores are divided by d_k and multiplied by 0.5: * multiplies, ** 0.5 takes the square root."""


def scaled_attention_weights(query: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    scores = query @ keys.transpose(-2, -1)  # (…, T_q, T_k)
    return torch.softmax(scores / keys.shape[-1] * 0.5, dim=-1)  # (…, T_q, T_k)
