"""The weights are the scaled scores: the softmax is missing, so a row does not sum to 1."""


def scaled_attention_weights(query: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    scores = query @ keys.transpose(-2, -1)  # (…, T_q, T_k)
    return scores / keys.shape[-1] ** 0.5  # (…, T_q, T_k)
