"""√d_k is rounded to a whole number: keep the root as it is. int and math.isqrt cut off what follows the point."""


def scaled_attention_weights(query: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    scores = query @ keys.transpose(-2, -1)  # (…, T_q, T_k)
    return torch.softmax(scores / int(keys.shape[-1] ** 0.5), dim=-1)  # (…, T_q, T_k)
