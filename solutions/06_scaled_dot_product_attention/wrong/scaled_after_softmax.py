"""The weights are divided by √d_k after the softmax: divide the scores before it, so that rows sum to 1."""


def scaled_attention_weights(query: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    scores = query @ keys.transpose(-2, -1)  # (…, T_q, T_k)
    return torch.softmax(scores, dim=-1) / keys.shape[-1] ** 0.5  # (…, T_q, T_k)
